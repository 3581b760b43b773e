"""Steps shrink to nothing while the learning rate stays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class LearningStalls(Rule):
    """The weights stop moving while the learning rate stays.

    ## What it checks
    The norm of the optimizer's step over the last part of the run is a thousandth of what it was in the first part,
    and the learning rate is about the same.

    ## Why it matters
    From there on the run costs time and changes nothing: the weights keep their distribution. Either the task is
    solved, or the gradient has died.

    ## Likely causes
    1. The policy has become deterministic, and its gradient is gone. Confirm: `policy/entropy_rel` is near 0.
    2. A weight of the loss decays and is never reset: a discount to the power of all steps so far, an importance
       weight. Confirm: `loss/policy` shrinks along with `grad/norm`.
    3. Dead or saturated units. Confirm: `layers/dead`, `layers/saturated`.
    4. The task is solved: the loss is near 0 and the return is at its best. Confirm: `episode/return_mean`.

    ## What to try first
    Plot `grad/norm` beside `step/norm`: if both fell, the loss has no gradient left; if only the step did, it is the
    optimizer.

    ## When it is fine
    A solved task. This is a note.

    ## References
    *dirty-rl* (periods of no learning show in weights that keep their distribution).
    """

    code: ClassVar[str] = "NET007"
    name: ClassVar[str] = "learning-stalls"
    severity: ClassVar[Severity] = "note"
    needs: ClassVar[tuple[str, ...]] = ("step/norm", "optimizer/lr")
    follows: ClassVar[tuple[str, ...]] = ("ENT001", "GRA002", "NET003", "NET004")

    fall: float = 1e-3  # of the step, late over early
    rate: float = 0.5  # of the learning rate, late over early
    readings: int = 40  # fewer cannot show a long period

    def check(self, evidence: Run) -> Iterator[Finding]:
        judged = False
        for series in evidence.each("step/norm"):
            step = series.finite
            rate = evidence[series.name.replace("step/norm", "optimizer/lr")].finite
            if len(step) < self.readings or len(rate) < self.readings:
                continue
            judged = True
            early, late = step.between(0.05, 0.35), step.tail(0.25)
            if not len(early) or early.median() <= 0 or late.quantile(0.9) > self.fall * early.median():
                continue
            if rate.tail(0.25).median() < self.rate * rate.between(0.05, 0.35).median():
                continue
            optimizer = series.name.partition("@")[2]
            hit = step.at(step.value <= self.fall * early.median())
            place = step.where(-1 if hit is None else hit)
            yield self.finding(
                "the weights have stopped moving" + (f" in optimizer {optimizer}" if optimizer else ""),
                where=replace(evidence.call("update"), update=place.update, env_step=place.env_step),
                seen=f"a step has norm {early.median():.3g} early in the run, {late.median():.3g} in its last "
                f"quarter; learning rate {rate.first:g} and {rate.last:g}",
                expected=f"steps above {self.fall:g} of their early size while the learning rate stays",
                help="look at grad/norm beside step/norm, and at policy/entropy_rel",
                confidence=0.8,
            )
        if not judged:
            raise NotEnough(f"fewer than {self.readings} readings of the step")
