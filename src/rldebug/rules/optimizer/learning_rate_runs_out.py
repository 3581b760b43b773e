"""The learning rate is nil for a large part of the run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.rates import long_rates
from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class LearningRateRunsOut(Rule):
    """The learning rate is nil for a large part of the run.

    ## What it checks
    The learning rate over the run. It falls to a thousandth of its highest value or below, stays there to the end, and
    that is two fifths of all updates or more.

    ## Why it matters
    From then on nothing is learned, whatever the agent sees.

    ## Likely causes
    1. The schedule is stepped once for each minibatch, and its length counts iterations (or env steps and updates are
       mixed up). Confirm: print the rate at the end of each iteration.
    2. An exponential decay is applied far more often than was meant. Confirm: the same.

    ## What to try first
    Step the schedule once for each unit that its length counts.

    ## When it is fine
    A rate that reaches 0 with the end of the run.

    ## References
    PyTorch, `torch.optim.lr_scheduler`.
    """

    code: ClassVar[str] = "OPT310"
    name: ClassVar[str] = "learning-rate-runs-out"
    severity: ClassVar[Severity] = "warning"
    aim: ClassVar[str] = "rates"
    needs: ClassVar[tuple[str, ...]] = ("optimizer/lr",)

    small: float = 1e-3  # of the highest
    share: float = 0.4  # of the updates
    readings: int = 12  # of the rate
    updates: int = 40  # that they span

    def check(self, evidence: Run) -> Iterator[Finding]:
        for optimizer, rate in long_rates(evidence, self.readings, self.updates):
            highest = float(rate.max())
            out = np.abs(rate.value) <= self.small * highest
            if highest <= 0 or not out[-1] or out.all():
                continue
            since = int(np.flatnonzero(~out)[-1]) + 1
            span = float(rate.update[-1] - rate.update[0])
            if rate.update[-1] - rate.update[since] < self.share * span or len(rate) - since < self.readings // 3:
                continue
            yield self.finding(
                f"the learning rate runs out long before the run ends{optimizer}",
                where=rate.where(since),
                seen=f"{highest:g} at the highest, {rate.value[since]:.3g} at update {rate.update[since]} of "
                f"{rate.update[-1]}, and never more again",
                expected="a rate that reaches 0 with the last update, if at all",
                help="step the schedule once for each unit that its length counts",
                confidence=0.9,
            )
