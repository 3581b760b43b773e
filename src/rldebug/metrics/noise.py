"""The gradient noise scale: the batch size above which a larger batch stops paying."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from rldebug.evidence.run import Run, Series
from rldebug.metric import metric
from rldebug.rollout import GradientWindow, Step, norms


@metric(
    "noise/trace",
    "noise/signal_sq",
    unit="squared gradient",
    reads=GradientWindow,
    healthy="noisy: only long averages mean anything",
)
def two_batch_sizes(window: GradientWindow) -> tuple[Tensor, Tensor]:
    """Unbiased estimates of tr(Σ) and |G|² from gradient norms at two batch sizes b < B (McCandlish et al. 2018, A.1).

    |G|² = (B|G_B|² − b|G_b|²) / (B − b) and tr(Σ) = (|G_b|² − |G_B|²) / (1/b − 1/B). The large batch is the mean over
    consecutive updates, so both assume that the weights hardly move meanwhile. Gradients are taken as the optimizer
    got them: after clipping.
    """
    small, big = window.small_rows, window.big_rows
    signal = (big * window.big_sq - small * window.small_sq) / (big - small)
    trace = (window.small_sq - window.big_sq) / (1.0 / small - 1.0 / big)
    return trace, signal


@metric(
    "noise/scale",
    unit="samples",
    reads=Run,
    needs=("noise/trace", "noise/signal_sq"),
    healthy="rises during training; a batch far above it wastes samples, far below it wastes updates",
)
def noise_scale(run: Run) -> list[Series]:
    """B_simple = tr(Σ) / |G|²: each averaged on its own, then divided; the average of the ratio would be biased."""
    found = []
    for trace in run.each("noise/trace"):
        name = trace.name.replace("noise/trace", "noise/signal_sq")
        top, bottom = trace.ema(half_life=64), run[name].ema(half_life=64)
        if len(top) != len(bottom):
            continue
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = np.where(bottom.value > 0, top.value / bottom.value, np.nan)
        name = trace.name.replace("noise/trace", "noise/scale")
        found.append(Series(name, top.update, top.env_step, scale))
    return found


@metric(
    "noise/adam_trace",
    "noise/adam_signal_sq",
    unit="squared gradient",
    reads=Step,
    needs=("moments", "rows"),
    healthy="as noise/trace and noise/signal_sq, within a factor of a few",
    detail=True,
)
def adam_moments(step: Step) -> tuple[Tensor, Tensor] | None:
    """The same two quantities from Adam's moments, for free: m̂ and v̂ are averages of g and g².

    With a steady gradient G and noise variance s per entry, E m̂² = G² + r·s and E v̂ = G² + s, where r is what is
    left of the noise after averaging, r = (1 − β1)/(1 + β1) in the long run. So s = (v̂ − m̂²)/(1 − r) and
    G² = m̂² − r·s. Holds while the gradient changes little over 1/(1 − β2) steps; not in the first 1/(1 − β1).
    """
    assert step.moments is not None and step.rows is not None
    moments = step.moments
    beta1, beta2, steps = moments.beta1, moments.beta2, moments.steps
    if steps < 10 / (1.0 - beta1):
        return None
    # Both moments start from 0 and are corrected for it; the noise left in the first is the sum of squared weights.
    fix1, fix2 = 1.0 - beta1**steps, 1.0 - beta2**steps
    left = (1.0 - beta1) / (1.0 + beta1) * (1.0 - beta1 ** (2 * steps)) / fix1**2
    first_sq = norms(moments.first).square().sum() / fix1**2
    second = torch.stack([each.float().sum() for each in moments.second]).sum() / fix2
    noise = (second - first_sq) / (1.0 - left)
    return step.rows * noise, first_sq - left * noise


@metric(
    "noise/adam_scale",
    unit="samples",
    reads=Run,
    needs=("noise/adam_trace", "noise/adam_signal_sq"),
    healthy="as noise/scale, within a factor of a few",
)
def adam_noise_scale(run: Run) -> list[Series]:
    """B_simple from Adam's moments: averages first, then the ratio."""
    found = []
    for trace in run.each("noise/adam_trace"):
        top = trace.ema(half_life=16)
        bottom = run[trace.name.replace("adam_trace", "adam_signal_sq")].ema(half_life=16)
        if len(top) != len(bottom):
            continue
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = np.where(bottom.value > 0, top.value / bottom.value, np.nan)
        found.append(Series(trace.name.replace("adam_trace", "adam_scale"), top.update, top.env_step, scale))
    return found
