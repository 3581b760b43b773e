"""The gradient norm rises by orders of magnitude over the run's own level."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run, Series
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ExplodingGradient(Rule):
    """The gradient norm rises by orders of magnitude over its own start.

    ## What it checks
    The gradient norm of an optimizer, as it was given to the step: either its median over the last quarter of the run
    is a thousand times that of the first, or single readings are, again and again. What rewards, returns and batch
    sizes have themselves grown by is allowed for. As a trap, on one reading, only an absurd size counts.

    ## Why it matters
    With plain SGD the step grows along and throws the weights away. With Adam it does not, but the growth still says
    that a loss is running away, and one such gradient drowns the memory of its running averages.

    ## Likely causes
    1. A critic that chases its own predictions and diverges. Confirm: `value/max` or `target/max` grow along with
       `grad/norm` while the rewards do not.
    2. The learning rate is too high. Confirm: `step/log10_ratio` is above −1; lower it ten times and compare.
    3. Gradients add up from step to step. Confirm: `gradients-not-zeroed`, or a norm that grows in a straight line.
    4. A recurrent or very deep network without clipping. Confirm: in the table `parameters` the first layers have the
       largest gradients.
    5. An importance ratio that is not clipped. Confirm: the spikes coincide with `policy/ratio_max`.

    ## What to try first
    Log the norm before clipping, and clip it at a few times its early median.

    ## When it is fine
    Rewards that are found late, or are larger later on, make larger gradients: their growth is taken out. Losses
    summed over episodes grow with the episodes' length: likewise.

    ## References
    Pascanu, Mikolov and Bengio, *On the difficulty of training recurrent neural networks*. Jones, *Debugging RL,
    Without the Agonizing Pain* (gradient statistics).
    """

    code: ClassVar[str] = "GRA004"
    name: ClassVar[str] = "exploding-gradient"
    severity: ClassVar[Severity] = "warning"
    needs: ClassVar[tuple[str, ...]] = ("grad/norm",)
    follows: ClassVar[tuple[str, ...]] = ("OPT004", "OPT008", "NET006", "VAL003", "VAL004", "DIS003")
    trap: ClassVar[bool] = True
    aftermath: ClassVar[bool] = True

    rise: float = 1e3  # over the first quarter of the run
    readings: int = 24  # fewer cannot show a level
    spikes: int = 5  # single readings that count as again and again
    absurd: float = 1e6  # root mean square of the gradient, for a trap, which has no history

    def check(self, evidence: Run) -> Iterator[Finding]:
        if len(evidence.readings) == 1:
            yield from self._look(evidence)
            return
        judged = False
        for series in evidence.each("grad/norm"):
            norm = series.finite
            norm = Series(
                norm.name, norm.update[norm.value > 0], norm.env_step[norm.value > 0], norm.value[norm.value > 0]
            )
            head = norm.head(0.25)
            if len(norm) < self.readings or len(head) < 5:
                continue
            judged = True
            allowed = self.rise * _growth(evidence, int(head.update[-1]))
            base = max(head.median(), float(np.median(norm.value[:5])))
            late = norm.tail(0.25)
            if late.median() > allowed * base:
                hit = norm.at(norm.value > allowed * base)
                assert hit is not None
                seen = f"median {base:.3g} in the first quarter of the run, {late.median():.3g} in the last"
                yield self._report(evidence, norm, hit, seen)
                continue
            high = np.flatnonzero(norm.value > allowed * max(base, norm.median()))
            if len(high) >= self.spikes and np.count_nonzero(np.diff(high) > 1) >= 2:
                seen = f"{len(high)} of {len(norm)} readings above {allowed:.0e} times the median {norm.median():.3g}"
                yield self._report(evidence, norm, int(high[0]), f"{seen}, the largest {norm.max():.3g}")
        if not judged:
            raise NotEnough(f"fewer than {self.readings} readings of the gradient norm")

    def _look(self, run: Run) -> Iterator[Finding]:
        for series in run.each("grad/rms"):
            if np.isfinite(series.last) and series.last > self.absurd:
                yield self._report(run, series, 0, f"{series.name} is {series.last:.3g}")

    def _report(self, run: Run, series: Series, index: int, seen: str) -> Finding:
        optimizer = series.name.partition("@")[2]
        place = series.where(index)
        return self.finding(
            "the gradient explodes" + (f" in optimizer {optimizer}" if optimizer else ""),
            where=replace(run.call("update"), update=place.update, env_step=place.env_step),
            seen=seen,
            expected=f"within a factor of {self.rise:g} of its own start",
            help="see whether value/max and target/max grow along: a critic that diverges comes before all else",
            confidence=0.75,
        )


def _growth(run: Run, until: int) -> float:
    """By how much rewards, returns and batches have grown since: no fault of the gradient. Infinite where unknown."""
    growth = 1.0
    rewards = [name for name in ("reward/min", "reward/max", "replay/reward_min", "replay/reward_max") if name in run]
    for names in (tuple(rewards), ("episode/return_min", "episode/return_max")):
        early = [each for name in names for each in run[name].finite.value[run[name].finite.update <= until]]
        late = [each for name in names for each in run[name].finite.value[run[name].finite.update > until]]
        if early and late:
            before, after = max(map(abs, early)), max(map(abs, late))
            if after > 0:
                growth *= max(after / before, 1.0) if before > 0 else float("inf")
    rows = run["batch/rows"].finite
    early_rows, late_rows = rows.value[rows.update <= until], rows.value[rows.update > until]
    if len(early_rows) and len(late_rows):
        growth *= max(float(late_rows.max() / max(np.median(early_rows), 1.0)), 1.0)
    return growth
