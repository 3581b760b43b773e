"""Histograms, sampled: rewards, values, targets, advantages, weights, gradients; and, more rarely, of each layer."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from rldebug.metric import metric
from rldebug.rollout import Activations, Rollout, Step, Update

BINS = 32
_SAMPLE = 4096
LAYERS = 24  # parameter tensors of an optimizer, or layers, that have a histogram each


@metric(
    "histogram/reward",
    unit="reward",
    reads=Rollout,
    needs=("reward",),
    healthy="as the environment's designer expects",
    kind="histogram",
)
def reward(rollout: Rollout) -> Tensor:
    """Histogram of the rewards of a rollout; under `rldebug run` of the newest rewards of the environment."""
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


@metric("histogram/weight/…", unit="weight", reads=Step, healthy="drifts slowly", kind="histograms")
def weight_of_each(step: Step) -> tuple[list[str], Tensor] | None:
    """Histogram of the weights of each parameter tensor, called as in the table `parameters`. Of more than 24 tensors
    those of two dimensions or more, spread evenly from the first to the last."""
    return _each(zip(step.names, step.after, strict=True))


@metric(
    "histogram/gradient/…",
    unit="loss per weight",
    reads=Step,
    healthy="around 0, in many bins, about as wide in every layer",
    kind="histograms",
)
def gradient_of_each(step: Step) -> tuple[list[str], Tensor] | None:
    """Histogram of the gradient of each parameter tensor, of the same ones as `histogram/weight/…`."""
    return _each(zip(step.names, step.grads, strict=True))


@metric(
    "histogram/activation/…",
    unit="activation",
    reads=Activations,
    healthy="in many bins; not all at 0 or at a bound",
    kind="histograms",
)
def activation_of_each(seen: Activations) -> tuple[list[str], Tensor] | None:
    """Histogram of what each layer put out in one training forward pass, called as in the table `layers`. Of more than
    24 layers some, spread evenly from the first to the last."""
    return _each(seen.outputs.items())


def _each(named: Iterable[tuple[str, Tensor | None]]) -> tuple[list[str], Tensor] | None:
    found = [(name, each) for name, each in named if each is not None and each.numel()]
    if len(found) > LAYERS:
        found = [(name, each) for name, each in found if each.ndim > 1] or found
    if len(found) > LAYERS:
        found = [found[place * (len(found) - 1) // (LAYERS - 1)] for place in range(LAYERS)]
    if not found:
        return None
    return [name for name, _ in found], torch.stack([histogram(each).float() for _, each in found])


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
