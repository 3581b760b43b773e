"""Optimizer steps are below a ten-millionth of the weights."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class StepTooSmall(Rule):
    """Optimizer steps are below a ten-millionth of the weights.

    ## What it checks
    The median over the run of log10(|step| / |weights|) is below −7, while the learning rate is above 0.

    ## Why it matters
    Ten thousand such steps move the weights by a thousandth: the budget runs out before anything is learned. In
    single precision a step of 10⁻⁷ is at the weights' last digit, and part of it is lost to rounding.

    ## Likely causes
    1. The learning rate is far too low, often by a unit: 3e-8 for 3e-4. Confirm: `optimizer/lr`.
    2. A schedule or warm-up counts env steps where it is given updates. Confirm: `optimizer/lr` over the run.
    3. With SGD: the gradient is tiny, after clipping or averaging over too much. Confirm: `grad/norm`.

    ## What to try first
    Multiply the learning rate by 100 and look at `step/log10_ratio` again.

    ## When it is fine
    Fine-tuning of a trained network, and the end of an annealed run.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (step statistics).
    """

    code: ClassVar[str] = "OPT005"
    name: ClassVar[str] = "step-too-small"
    severity: ClassVar[Severity] = "note"
    needs: ClassVar[tuple[str, ...]] = ("step/log10_ratio", "optimizer/lr")
    follows: ClassVar[tuple[str, ...]] = ("GRA002", "GRA005", "OPT003", "OPT302")

    floor: float = -7.0  # log10 of step over weights
    readings: int = 16  # steps that moved anything

    def check(self, evidence: Run) -> Iterator[Finding]:
        judged = False
        for series in evidence.each("step/log10_ratio"):
            ratio = series.finite
            rate = evidence[series.name.replace("step/log10_ratio", "optimizer/lr")].finite
            if len(ratio) < self.readings:
                continue
            judged = True
            if ratio.median() >= self.floor or not len(rate) or rate.median() <= 0:
                continue
            optimizer = series.name.partition("@")[2]
            place = ratio.where(0)
            yield self.finding(
                "optimizer steps hardly move the weights" + (f", optimizer {optimizer}" if optimizer else ""),
                where=replace(evidence.call("update"), update=place.update, env_step=place.env_step),
                seen=f"a step is 10^{ratio.median():.1f} of the weights in the median of {len(ratio)} readings; "
                f"learning rate {rate.median():g}",
                expected="about 10^-4 to 10^-2 of the weights",
                help="multiply the learning rate by 100 and look at step/log10_ratio again",
                confidence=0.8,
            )
        if not judged:
            raise NotEnough(f"fewer than {self.readings} steps that moved anything")
