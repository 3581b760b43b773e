"""What an optimizer step did: gradients, step sizes, weights — as a whole on every reading, per parameter in detail."""

from __future__ import annotations

import torch
from torch import Tensor

from rldebug.metric import metric
from rldebug.rollout import Step, norms

PARAMETER_COLUMNS = ("grad_norm", "grad_absmax", "zero_rows", "step_norm", "weight_norm", "weight_mean", "weight_std")
"""Columns of the table `parameters`: one row per parameter tensor; NaN where a parameter has no gradient."""


@metric(
    "grad/norm", "grad/rms", "grad/absmax", "grad/zero_tensors", "grad/missing",
    unit="loss per weight", reads=Step, healthy="finite, above 0, steady over orders of magnitude",
)  # fmt: skip
def gradient(step: Step) -> tuple[Tensor | float, ...] | None:
    """Gradient statistics over all parameters of an optimizer: 2-norm, root mean square, largest entry, share of the
    parameter tensors whose gradient is all zeros, and how many have none."""
    grads = [each for each in step.grads if each is not None]
    if not grads:
        return None
    each_norm = norms(grads)
    size = sum(each.numel() for each in grads)
    norm = each_norm.square().sum().sqrt()
    largest = norms(grads, float("inf"))
    return norm, norm / size**0.5, largest.max(), (largest == 0).float().mean(), len(step.grads) - len(grads)


@metric(
    "step/norm", "step/rms", "step/absmax", "step/log10_ratio", "step/unchanged",
    unit="weight", reads=Step, healthy="log10_ratio between −4 and −1; absmax well above rms",
)  # fmt: skip
def step_statistics(step: Step) -> tuple[Tensor, ...]:
    """Step statistics, θ after − θ before: 2-norm, root mean square, largest entry, log10(|Δθ| / |θ|), and the share of
    parameter tensors that had a gradient other than 0 and yet did not change."""
    moved = torch._foreach_sub(list(step.after), list(step.before))
    size = sum(each.numel() for each in moved)
    each_norm = norms(moved)
    norm = each_norm.square().sum().sqrt()
    weight = norms(step.before).square().sum().sqrt()
    grads = {i: each for i, each in enumerate(step.grads) if each is not None}
    driven = list(grads)
    if driven:
        pushed = norms([grads[i] for i in driven], float("inf")) > 0
        still = each_norm[driven] == 0
        unchanged = (pushed & still).float().sum() / pushed.float().sum()
    else:
        unchanged = torch.full_like(norm, float("nan"))
    return norm, norm / size**0.5, norms(moved, float("inf")).max(), (norm / weight).log10(), unchanged


@metric("weight/norm", unit="weight", reads=Step, healthy="grows slowly, if at all")
def weight_norm(step: Step) -> Tensor:
    """2-norm of all parameters of an optimizer."""
    return norms(step.after).square().sum().sqrt()


@metric("optimizer/lr", unit="learning rate", reads=Step, healthy="above 0")
def learning_rate(step: Step) -> float:
    """Learning rate of the first parameter group."""
    return step.learning_rate


@metric("parameters", unit="mixed", reads=Step, kind="table")
def parameters(step: Step) -> tuple[list[str], Tensor]:
    """Per parameter tensor: gradient 2-norm and largest entry, share of its rows whose gradient is exactly zero (dead
    output units), 2-norm of the step, and norm, mean and standard deviation of the weights."""
    nan = torch.full((), float("nan"), device=step.after[0].device)
    rows = []
    for before, after, grad in zip(step.before, step.after, step.grads, strict=True):
        after = after.float()
        zero_rows = nan
        if grad is not None and grad.ndim >= 2:
            zero_rows = (grad.reshape(grad.shape[0], -1) == 0).all(1).float().mean()
        rows.append(
            torch.stack(
                [
                    nan if grad is None else grad.float().norm(),
                    nan if grad is None or not grad.numel() else grad.float().abs().max(),
                    zero_rows,
                    (after - before.float()).norm(),
                    after.norm(),
                    after.mean(),
                    after.std(correction=0),
                ]
            )
        )
    return list(step.names), torch.stack(rows)
