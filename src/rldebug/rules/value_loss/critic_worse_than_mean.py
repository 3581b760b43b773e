"""The value function is a worse guess than the mean of its targets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run
from rldebug.evidence.together import together
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class CriticWorseThanMean(Rule):
    """The value function is a worse guess than a constant would be.

    ## What it checks
    Late in the run the error variance of the predictions is several times the variance of the targets: of those in the
    same batches, and of all targets the run has seen. It is not falling, and large beside the targets themselves.

    ## Why it matters
    A baseline that is worse than none makes policy gradients noisier, and what is bootstrapped from it is wrong.

    ## Likely causes
    1. The value loss has the wrong sign, so the critic diverges. Confirm: `loss/value` is negative, or rises for ever.
    2. Predictions and targets are on different scales, one normalised and the other not. Confirm: `value/std` beside
       `target/std`.
    3. The critic's learning rate is too high. Confirm: `step/log10_ratio` above −1.5.
    4. Predictions are of another step or another environment than the targets. Confirm: `value/target_corr` near 0.

    ## What to try first
    Print value and target of ten rows side by side.

    ## When it is fine
    A solved task, where all targets are nearly equal and any small error is larger than their variance: the rule then
    compares with the targets of the whole run and stays quiet. Batches of one episode each are pooled.

    ## References
    Schulman, *Nuts and Bolts of Deep RL* (explained variance below 0). marlbenchmark/on-policy issue 12.
    """

    code: ClassVar[str] = "VAL004"
    name: ClassVar[str] = "critic-worse-than-mean"
    severity: ClassVar[Severity] = "warning"
    needs: ClassVar[tuple[str, ...]] = ("value/residual_var", "value/mean", "target/mean", "target/std")
    follows: ClassVar[tuple[str, ...]] = ("VAL003", "VAL005", "VAL007", "OPT004", "OPT008")
    aftermath: ClassVar[bool] = True

    updates: int = 300  # learner steps before a critic can be expected to be any good
    readings: int = 30  # fewer cannot show that it lasts
    worse: float = 2.0  # error variance over target variance
    share: float = 0.8  # of late readings in which it is above 1.5
    beside: float = 0.3  # error over the size of the targets, below which it is small anyway

    def check(self, evidence: Run) -> Iterator[Finding]:
        names = ("value/residual_var", "target/mean", "target/std", "value/mean", "value/std")
        residual, target, spread, value, value_spread = together(evidence, *names)
        if len(residual) < self.readings or residual.updates < self.updates:
            raise NotEnough(
                f"{len(residual)} readings over {residual.updates} updates, needs {self.readings} over {self.updates}"
            )
        late = residual.tail(0.3)
        error = residual.value * spread.value**2
        if float(np.mean(late.value > 1.5)) < self.share or late.median() < self.worse:
            return
        quarters = [error[-len(residual.tail(share)) :] for share in (0.3, 0.15)]
        final = float(np.mean(quarters[1]))
        # All targets of the run, between batches as well as within: a solved task leaves hardly any within.
        whole = float(np.mean(spread.value**2) + np.var(target.value))
        if np.median(quarters[0]) < self.worse * whole or final < 0.5 * float(np.mean(quarters[0])):
            return
        size = abs(target.tail(0.3).median())
        if np.sqrt(np.median(quarters[0])) < self.beside * size:
            return
        yield self.finding(
            "the value function is a worse guess than the mean of its targets",
            where=replace(evidence.call("update"), update=int(late.update[0]), env_step=int(late.env_step[0])),
            seen=f"residual variance {late.median():.3g} over the last {len(late)} readings; values "
            f"{value.tail(0.3).median():.4g} ± {value_spread.tail(0.3).median():.3g}, targets "
            f"{target.tail(0.3).median():.4g} ± {spread.tail(0.3).median():.3g}",
            expected="below 1: a constant reaches 1",
            help="print value and target of ten rows side by side: look for a sign, a scale or a shift",
            confidence=0.8,
        )
