"""Optimizer steps are about as large as the weights themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run, Series
from rldebug.evidence.tensors import tensor_histories
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class StepTooLarge(Rule):
    """Optimizer steps are about as large as the weights themselves.

    ## What it checks
    The size of a step against the size of the weights, as a whole, after the first updates and for most of the run:
    against the weights of the moment, or, for networks of two layers and more, against those the run began with
    (weights that are thrown far out make any step look small). First steps of half those weights count alone.

    ## Why it matters
    Each step replaces what the network knew instead of correcting it. Returns jump about, units die or saturate, and
    the loss ends in NaN or in a policy that always does the same.

    ## Likely causes
    1. The learning rate is ten or a hundred times too high; Adam's steps have about the size of its rate in every
       weight. Confirm: `optimizer/lr`; 1e-4 to 1e-3 is usual for Adam.
    2. With SGD or RMSprop: gradients far above 1 and no clipping. Confirm: `grad/norm`; clip it, or scale the
       rewards.
    3. Adam's `eps` or second β is off, so that its denominator is far too small. Confirm: `step/norm` is large while
       `grad/norm` is small.

    ## What to try first
    Divide the learning rate by 30 and compare the first hundred updates.

    ## When it is fine
    Parameters that start at 0 (tables, a temperature, a log-std): optimizers of few weights are not judged.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (step statistics). Ben Braiek and Khomh, *TheDeepChecker*
    (update over weight between 10⁻⁴ and 10⁻¹).
    """

    code: ClassVar[str] = "OPT004"
    name: ClassVar[str] = "step-too-large"
    severity: ClassVar[Severity] = "warning"
    needs: ClassVar[tuple[str, ...]] = ("step/log10_ratio", "weight/norm")
    follows: ClassVar[tuple[str, ...]] = ("OPT008",)

    ratio: float = 0.3  # step over weights
    first: float = 0.5  # the first few steps, over the weights at the start
    share: float = 0.75  # of the readings that must show it
    settle: int = 16  # updates at the start that do not count
    readings: int = 12  # after that
    weights: int = 100  # of an optimizer; fewer are not judged
    network: int = 256  # weights from which on the start counts as well
    tensors: int = 4  # parameter tensors, likewise; tables and linear models may start at 0

    def check(self, evidence: Run) -> Iterator[Finding]:
        judged = False
        tensors = Counter(each.optimizer for each in tensor_histories(evidence))
        for series in evidence.each("step/norm"):
            optimizer = series.name.partition("@")[2]
            rms = evidence[series.name.replace("step/norm", "step/rms")]
            weight = evidence[series.name.replace("step/norm", "weight/norm")]
            ratio = evidence[series.name.replace("step/norm", "step/log10_ratio")].finite
            size = _size(series, rms)
            late = series.finite
            kept = late.update >= self.settle
            late = Series(late.name, late.update[kept], late.env_step[kept], late.value[kept])
            if size < self.weights or len(late) < self.readings or not len(weight.finite):
                continue
            judged = True
            now = ratio.value[ratio.update >= self.settle]
            early = series.finite.value[:8]
            start = max(_start(series, weight), 0.03 * size**0.5)
            network = size >= self.network and tensors.get(optimizer, 0) >= self.tensors
            rate = evidence[series.name.replace("step/norm", "optimizer/lr")].finite
            if np.mean(now > np.log10(self.ratio)) >= self.share:
                seen = f"a step is 10^{np.median(now):.1f} of the weights in the median of {len(now)} readings"
            elif network and np.mean(late.value > self.ratio * start) >= self.share:
                seen = f"a step has norm {late.median():.3g} in the median of {len(late)} readings, "
                seen += f"the weights had {start:.3g} at the start"
            elif network and np.median(early) > self.first * start:
                seen = f"the first {len(early)} steps have a median norm of {np.median(early):.3g}, "
                seen += f"the weights had {start:.3g} at the start"
            else:
                continue
            place = late.where(0)
            yield self.finding(
                "optimizer steps are as large as the weights" + (f", optimizer {optimizer}" if optimizer else ""),
                where=replace(evidence.call("update"), update=place.update, env_step=place.env_step),
                seen=seen + (f"; learning rate {rate.median():g}" if len(rate) else ""),
                expected="about 10^-4 to 10^-1 of the weights, and 10^-3 for most of the run",
                help="divide the learning rate by 30 and look at step/log10_ratio again",
                confidence=0.85,
            )
        if not judged:
            raise NotEnough(f"fewer than {self.readings} readings of a step on {self.weights} weights or more")


def _size(norm: Series, rms: Series) -> float:
    """Weights that the optimizer holds, from norm = rms · √weights."""
    count = min(len(norm), len(rms))
    with np.errstate(divide="ignore", invalid="ignore"):
        squares = (norm.value[:count] / rms.value[:count]) ** 2
    known = squares[np.isfinite(squares)]
    return float(np.median(known)) if len(known) else 0.0


def _start(step: Series, weight: Series) -> float:
    """Norm of the weights before the first recorded step, which is hardly in line with them."""
    after, moved = weight.finite.first, step.finite.first if len(step.finite) else 0.0
    return float(np.sqrt(max(after**2 - moved**2, 0.0)))
