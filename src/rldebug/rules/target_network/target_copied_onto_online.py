"""The weights of the target go into the network that learns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.copies import between, copies
from rldebug.syntax.mentions import in_setup, mentions, without_gradient
from rldebug.syntax.optimised import key, optimised


@dataclass(frozen=True, kw_only=True)
class TargetCopiedOntoOnline(Rule):
    """The weights of the target go into the network that learns.

    ## What it checks
    While training, a network that an optimizer holds is overwritten from one that no optimizer holds, that nothing else
    writes and that is only asked without gradients. Read from the source.

    ## Why it matters
    Every synchronisation throws away what was learned since the last one and puts the frozen first weights in its
    place.

    ## Likely causes
    1. The two names, or the order of the arguments, are swapped. Confirm: read the line that copies.

    ## What to try first
    `target.load_state_dict(net.state_dict())`.

    ## When it is fine
    Where the learner is set back on purpose, to a network that was saved before.

    ## References
    Mnih et al., *Human-level control through deep reinforcement learning*.
    """

    code: ClassVar[str] = "TGT625"
    name: ClassVar[str] = "target-copied-onto-online"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("TGT001", "TGT005", "TGT300", "TGT301")

    def check(self, evidence: Source) -> Iterator[Finding]:
        learning = {key(evidence, each) for _, networks in optimised(evidence) for each in networks}
        every = [
            (copy, key(evidence, into), key(evidence, origin))
            for copy in copies(evidence)
            if not in_setup(evidence, copy.node)
            for into, origin in between(evidence, copy)
        ]
        for copy, into, origin in every:
            if into == origin or into not in learning or origin in learning or not origin:
                continue
            if any(other == origin for _, other, _ in every) or not _only_asked(evidence, origin):
                continue
            slow, fast = origin.rpartition(":")[2], into.rpartition(":")[2]
            yield self.finding(
                f"the network that learns, {fast}, is overwritten with the weights of {slow}, which never learns",
                where=evidence.at(copy.node),
                seen=evidence.quoted(copy.node),
                expected=f"weights go from {fast} to {slow}",
                help=f"{slow}.load_state_dict({fast}.state_dict())",
                confidence=0.9,
            )


def _only_asked(source: Source, name: str) -> bool:
    """Whether a network is made once, and asked without gradients; besides the copy, it is named nowhere else."""
    uses = list(mentions(source, name))
    asked = [node for node, use in uses if use == "asked"]
    bound = [node for node, use in uses if use == "bound"]
    others = [node for node, use in uses if use == "other"]
    return (
        bool(asked)
        and all(without_gradient(source, each) for each in asked)
        and len(bound) == 1
        and in_setup(source, bound[0])
        and len(others) <= 2
    )
