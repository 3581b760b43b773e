"""The evaluation plays the target network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.followers import Follower, followers
from rldebug.forensics.worlds import evaluation_calls
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TargetIsEvaluated(Rule):
    """The evaluation plays the target network, and not the one that learns.

    ## What it checks
    Which network acts in environments that are never learned from. It is the copy that targets are computed with, into
    which the weights of the other are loaded from time to time; the other never acts there. Not every evaluation comes
    right after a load.

    ## Why it matters
    The score is that of weights as they were at the last copy. It rises in steps, lags behind, and the best checkpoint
    is chosen by a network that is not the one saved.

    ## Likely causes
    1. The wrong one of two names is handed to the evaluation. Confirm: print `is` for both.
    2. The evaluation asks an object for its network, and gets the copy. Confirm: the same.

    ## What to try first
    Evaluate the network that the optimizer holds.

    ## When it is fine
    Copies are made every few updates. A running average of the weights may well be evaluated, and is not meant.

    ## References
    Mnih et al. 2015, *Human-level control through deep reinforcement learning*, algorithm 1.
    """

    code: ClassVar[str] = "EVA365"
    name: ClassVar[str] = "target-is-evaluated"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "evaluation"

    steps: int = 20  # of the evaluation
    apart: float = 1e-3  # relative distance of the two networks at some time, for it to matter
    stale: int = 5  # updates since the last load, at one evaluation at least

    def check(self, evidence: Script) -> Iterator[Finding]:
        calls = evaluation_calls(evidence)
        if len(calls) < self.steps:
            raise NotEnough(f"networks were seen to act in {len(calls)} steps of an evaluation")
        asked = {each.module for each in calls}
        for each in followers(evidence):
            if each.target not in asked or each.online in asked or not each.whole:
                continue
            mine = [call for call in calls if call.module == each.target]
            late = self._late(each, {call.update for call in mine})
            if len(mine) < self.steps or max(each.distance, default=0.0) < self.apart or late is None:
                continue
            yield self.finding(
                "the evaluation plays the target network",
                where=mine[0].event.where,
                seen=f"{each.target}, which targets are computed with, acts in {len(mine)} steps of the evaluation, "
                f"{each.online} in none; the last load was up to {late} updates ago",
                expected=f"{each.online}, the network that learns",
                help=f"evaluate {each.online}",
                confidence=0.85,
            )
            return

    def _late(self, follower: Follower, played: set[int]) -> int | None:
        """How many updates old the weights are at most; nothing where each evaluation comes soon after a load."""
        seen = [at for at in played if follower.loads and at <= follower.loads[-1]]  # only the first loads are told
        late = max((at - max((each for each in follower.loads if each <= at), default=0) for at in seen), default=0)
        return late if late >= self.stale else None
