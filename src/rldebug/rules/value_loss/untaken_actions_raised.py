"""The conservative penalty raises the values of actions that were not taken."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.conservative import untaken
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class UntakenActionsRaised(Rule):
    """The conservative penalty raises values of actions never taken.

    ## What it checks
    In passes in which a critic learns the value of the actions that were taken, the gradient at the values of others.
    Of logsumexp(Q) it is a factor times the softmax of the values, the same factor in all rows, and where the critic is
    asked about several actions in one state it sums to the same number in every state. The factor must be positive, so
    that a step of the optimizer lowers what the data says nothing of. Here it is negative in every such pass. Exact,
    whatever form the loss is written in.

    ## Why it matters
    The agent comes to prefer what nobody has tried: the values that the penalty was to keep low run away upwards.

    ## Likely causes
    1. `loss = td - alpha * penalty`. Confirm: read the line where the two are added up.
    2. `q_taken - logsumexp(q)` for the penalty. Confirm: the same.
    3. A learned weight of the penalty that became negative. Confirm: print it.

    ## What to try first
    `loss = td + alpha * (torch.logsumexp(q, dim=1) - q_taken).mean()`.

    ## When it is fine
    Where values of untried actions are raised on purpose, to explore.

    ## References
    Kumar et al. 2020, *Conservative Q-Learning for Offline Reinforcement Learning*, equation 4.
    """

    code: ClassVar[str] = "VAL530"
    name: ClassVar[str] = "untaken-actions-raised"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "loss"

    passes: int = 3  # backward passes that must be there

    def check(self, evidence: Script) -> Iterator[Finding]:
        found = untaken(evidence)
        if len(found) < self.passes:
            raise NotEnough(f"{len(found)} passes that push values of actions not taken, needs {self.passes}")
        if any((each.get("settings") or {}).get("maximize") for each in evidence.optimizers.values()):
            raise NotEnough("an optimizer climbs its loss")
        if all(each.factor < 0 for each in found):
            yield self.finding(
                "the conservative penalty raises the values of actions that were not taken",
                where=found[0].loss.where,
                seen=f"the loss falls as {found[0].module} values other actions higher, by its softmax times "
                f"{found[0].factor:.3g}, in {len(found)} of {len(found)} backward passes",
                expected="a positive factor: what the data says nothing of is valued lower",
                help="add the penalty logsumexp(q) - q_taken to the loss",
                confidence=0.96,
            )
