"""The learning rate falls below 0."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class LearningRateNegative(Rule):
    """The learning rate falls below 0.

    ## What it checks
    The learning rate of each optimizer at each of its steps. Exact. Where it falls below 0 by a little, less than a
    tenth of its highest value, it is a note.

    ## Why it matters
    The steps go up the loss: what was learned is unlearned, faster and faster.

    ## Likely causes
    1. A linear decay goes on beyond its end: it is called once for each minibatch, and its length counts iterations.
       Confirm: print the rate at the end of the run.
    2. Its length is computed from another budget than the loop has. Confirm: compare the two.

    ## What to try first
    Step the schedule once for each iteration, and keep its factor at 0 or above: `max(0.0, 1 - done / total)`.

    ## When it is fine
    Never: who wants to maximise says `maximize=True`.

    ## References
    PyTorch, `torch.optim.lr_scheduler.LambdaLR`.
    """

    code: ClassVar[str] = "OPT309"
    name: ClassVar[str] = "learning-rate-negative"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "optimizer"

    harm: float = 0.1  # of the highest rate: a last rollout beyond the end of a linear decay is below

    def check(self, evidence: Script) -> Iterator[Finding]:
        if not any(each.get("lr_lowest") is not None for each in evidence.optimizers.values()):
            raise NotEnough("no optimizer was seen to step")
        for name, each in evidence.optimizers.items():
            lowest = each.get("lr_lowest")
            if lowest is None or lowest >= 0:
                continue
            created = each.get("created")
            yield self.finding(
                f"the learning rate of optimizer {name} is negative",
                where=Where(file=created[0], line=created[1]) if created else None,
                seen=f"{each['lr_first']:g} at the first step, {lowest:g} at the lowest, {each['lr_last']:g} at the "
                f"last of {each['steps']}; schedules were stepped {each.get('schedules', 0)} times",
                expected="a learning rate above 0",
                help="step the schedule once for each unit that its length counts, and stop it at 0",
                confidence=0.99,
                severity="error" if -lowest >= self.harm * float(each.get("lr_highest") or 0.0) else "note",
            )
