"""Every gradient is clipped to the same norm."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class GradientClippedEveryStep(Rule):
    """Every gradient is clipped to the same norm.

    ## What it checks
    The norm of the gradient that the optimizer was given is the same, to a thousandth, at nearly all readings: a
    clipping threshold, below nearly every gradient.

    ## Why it matters
    The length of the gradient is then thrown away in every update: a batch that says little moves the weights as far
    as one that says much. With Adam that mostly cancels; with SGD and RMSprop the threshold is the learning rate in
    disguise. It also hides a gradient that explodes.

    ## Likely causes
    1. The threshold is below the usual norm. Confirm: print what `clip_grad_norm_` returns, the norm before clipping.
    2. Value targets in the hundreds make the value loss dominate the norm. Confirm: `target/max`; scale the rewards.
    3. One threshold for two networks, one of which has far larger gradients. Confirm: clip them apart.

    ## What to try first
    Print what `clip_grad_norm_` returns over a hundred updates, and set the threshold near its 90 % quantile.

    ## When it is fine
    With Adam, often: this is a note.

    ## References
    Pascanu, Mikolov and Bengio, *On the difficulty of training recurrent neural networks*. Andrychowicz et al., *What
    Matters in On-Policy Reinforcement Learning?* (gradient clipping).
    """

    code: ClassVar[str] = "OPT009"
    name: ClassVar[str] = "gradient-clipped-every-step"
    severity: ClassVar[Severity] = "note"
    needs: ClassVar[tuple[str, ...]] = ("grad/norm",)
    follows: ClassVar[tuple[str, ...]] = ("OPT302",)

    share: float = 0.95  # of the readings at the threshold
    tolerance: float = 1e-3  # of the threshold
    readings: int = 24  # fewer may be alike by chance

    def check(self, evidence: Run) -> Iterator[Finding]:
        judged = False
        for series in evidence.each("grad/norm"):
            norm = series.finite
            if len(norm) < self.readings:
                continue
            judged = True
            level = norm.median()
            at = np.abs(norm.value - level) <= self.tolerance * level
            if level <= 0 or norm.share(at) < self.share:
                continue
            optimizer = series.name.partition("@")[2]
            place = norm.where(0)
            yield self.finding(
                "nearly every gradient is clipped" + (f" in optimizer {optimizer}" if optimizer else ""),
                where=replace(evidence.call("update"), update=place.update, env_step=place.env_step),
                seen=f"the norm is {level:.3g} at {np.count_nonzero(at)} of {len(norm)} readings",
                expected="a threshold that only the largest gradients reach",
                help="print what clip_grad_norm_ returns, and set the threshold near the 90 % quantile of that",
                confidence=0.9,
            )
        if not judged:
            raise NotEnough(f"fewer than {self.readings} readings of the gradient norm")
