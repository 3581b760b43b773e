"""What is saved is the target network, and not the trained one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.moments import moments
from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.followers import followers
from rldebug.forensics.worlds import evaluation_calls
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class CheckpointOfLaggingCopy(Rule):
    """What is saved is the target network, and not the trained one.

    ## What it checks
    The files that were written while training went on. They hold all tensors of a target network, into which the
    weights of the trained network are loaded from time to time; in most of them those of the trained network itself are
    not, and their values differ. What is played to see how good it has become is played by the trained network.

    ## Why it matters
    The score that is written beside the checkpoint is that of other weights. What is loaded later is as old as the last
    load of the target network.

    ## Likely causes
    1. The wrong one of two names in `torch.save`. Confirm: compare the saved tensors with those of both networks.

    ## What to try first
    Save the `state_dict()` of the network that the optimizer holds.

    ## When it is fine
    A running average of the weights may well be what is kept, and is not meant.

    ## References
    Mnih et al. 2015, *Human-level control through deep reinforcement learning*, algorithm 1.
    """

    code: ClassVar[str] = "CKP454"
    name: ClassVar[str] = "checkpoint-of-lagging-copy"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    steps: int = 20  # of an evaluation, by the trained network

    def check(self, evidence: Script) -> Iterator[Finding]:
        found = [each for each in moments(evidence) if each.update > 0]
        if not found:
            raise NotEnough("nothing was saved while training went on")
        calls = evaluation_calls(evidence)
        for each in followers(evidence):
            played = [call for call in calls if call.module == each.online]
            if not each.whole or len(played) < self.steps or any(call.module == each.target for call in calls):
                continue
            if not all(moment.whole and moment.has(each.target) and each.online in moment.modules for moment in found):
                continue
            # Right after a load the two are equal: what was saved then is either.
            old = [moment for moment in found if not moment.has(each.online)]
            if not old or 2 * len(old) < len(found):
                continue
            have, of = old[-1].modules[each.online]
            yield self.finding(
                "what is saved is the target network, and not the network that is trained and evaluated",
                where=old[-1].where,
                seen=f"{old[-1].files[0]} holds all tensors of {each.target}, and {have} of {of} of {each.online}, "
                f"which acts in {len(played)} steps of the evaluation",
                expected=f"the weights of {each.online}",
                help=f"save the state_dict() of {each.online}",
                confidence=0.9,
            )
            return
