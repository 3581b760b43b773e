"""Histograms, sampled: rewards, values, targets, advantages, weights, gradients."""

from __future__ import annotations

import torch
from torch import Tensor

from rldebug.metric import metric
from rldebug.rollout import Rollout, Step, Update

BINS = 32
_SAMPLE = 4096


@metric(
    "histogram/reward",
    unit="reward",
    reads=Rollout,
    needs=("reward",),
    healthy="as the environment's designer expects",
    kind="histogram",
)
def reward(rollout: Rollout) -> Tensor:
    """Histogram of the rewards of a rollout."""
    assert rollout.reward is not None
    return histogram(rollout.reward)


@metric(
    "histogram/value",
    unit="return",
    reads=Update,
    needs=("value",),
    healthy="as histogram/target",
    kind="histogram",
)
def value(update: Update) -> Tensor:
    """Histogram of the value predictions."""
    assert update.value is not None
    return histogram(update.value)


@metric(
    "histogram/target",
    unit="return",
    reads=Update,
    needs=("target",),
    healthy="within ±10",
    kind="histogram",
)
def target(update: Update) -> Tensor:
    """Histogram of the value targets."""
    assert update.target is not None
    return histogram(update.target)


@metric(
    "histogram/advantage",
    unit="return",
    reads=Update,
    needs=("advantage",),
    healthy="around 0, within ±10",
    kind="histogram",
)
def advantage(update: Update) -> Tensor:
    """Histogram of the advantages."""
    assert update.advantage is not None
    return histogram(update.advantage)


@metric("histogram/weight", unit="weight", reads=Step, healthy="drifts slowly", kind="histogram")
def weight(step: Step) -> Tensor:
    """Histogram of all weights of an optimizer; one that keeps its shape for long shows a period of no learning."""
    return histogram(torch.cat([_few(each) for each in step.after]))


@metric("histogram/gradient", unit="loss per weight", reads=Step, healthy="around 0, in many bins", kind="histogram")
def gradient(step: Step) -> Tensor | None:
    """Histogram of all gradient entries of an optimizer."""
    grads = [_few(each) for each in step.grads if each is not None]
    return histogram(torch.cat(grads)) if grads else None


def histogram(x: Tensor) -> Tensor:
    """Low, high, then counts in equal bins. On a device by comparison: `histc` would wait for it."""
    x = _few(x)
    low, high = x.aminmax()
    if x.is_cpu and bool(low.isfinite() & high.isfinite()):
        bottom, top = low.item(), high.item()
        if top == bottom:
            top = bottom + max(1.0, abs(bottom))  # all in the first bin, as below
        return torch.cat([low.reshape(1), high.reshape(1), torch.histc(x, BINS, bottom, top)])
    width = torch.where(high > low, high - low, torch.ones_like(low))
    place = ((x - low) / width * BINS).floor().clamp(0, BINS - 1)
    counts = (place[:, None] == torch.arange(BINS, device=x.device)).float().sum(0)
    return torch.cat([low.reshape(1), high.reshape(1), counts])


def _few(x: Tensor) -> Tensor:
    flat = x.detach().reshape(-1)
    return flat[:: max(flat.numel() // _SAMPLE, 1)].float()
