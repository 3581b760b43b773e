"""What an optimizer step did: gradients, step sizes, weights — as a whole on every reading, per parameter in detail."""

from __future__ import annotations

import torch
from torch import Tensor

from rldebug.metric import metric
from rldebug.rollout import Step

PARAMETER_COLUMNS = ("grad_norm", "grad_absmax", "zero_rows", "step_norm", "weight_norm", "weight_mean", "weight_std")
"""Columns of the table `parameters`: one row per parameter tensor; NaN where a parameter has no gradient."""


@metric(
    "grad/norm", "grad/rms", "grad/zero_tensors", "grad/missing",
    unit="loss per weight", reads=Step, healthy="finite, above 0, steady over orders of magnitude",
)  # fmt: skip
def gradient(step: Step) -> tuple[Tensor | float, ...] | None:
    """Gradient statistics over all parameters of an optimizer: 2-norm, root mean square, share of the parameter tensors
    whose gradient is all zeros, and how many have none."""
    if not step.present:
        return None
    size = sum(each.numel() for each in step.present)
    norm = torch.linalg.vector_norm(step.grad_norms)
    missing = len(step.grads) - len(step.present)
    return norm, norm / size**0.5, (step.grad_norms == 0).float().mean(), missing


@metric("grad/absmax", unit="loss per weight", reads=Step, healthy="well above grad/rms", detail=True)
def gradient_absmax(step: Step) -> Tensor | None:
    """The largest gradient entry of an optimizer, in size."""
    return _absmax(step.present) if step.present else None


@metric(
    "step/norm", "step/rms", "step/log10_ratio", "step/unchanged",
    unit="weight", reads=Step, healthy="log10_ratio between −4 and −1",
)  # fmt: skip
def step_statistics(step: Step) -> tuple[Tensor, ...]:
    """Step statistics, θ after − θ before: 2-norm, root mean square, log10(|Δθ| / |θ|), and the share of parameter
    tensors that had a gradient other than 0 and yet did not change."""
    size = sum(each.numel() for each in step.moved)
    norm = torch.linalg.vector_norm(step.moved_norms)
    driven = [i for i, each in enumerate(step.grads) if each is not None]
    if driven:
        moved = step.moved_norms
        if len(driven) < len(step.grads):  # by hand: indexing with a list would wait for the device
            each_moved = moved.unbind()
            moved = torch.stack([each_moved[i] for i in driven])
        pushed = step.grad_norms > 0
        unchanged = (pushed & (moved == 0)).sum() / pushed.sum()
    else:
        unchanged = torch.full_like(norm, float("nan"))
    ratio = (norm / torch.linalg.vector_norm(step.weight_norms)).log10()
    return norm, norm / size**0.5, ratio, unchanged


@metric("step/absmax", unit="weight", reads=Step, healthy="small, yet well above step/rms", detail=True)
def step_absmax(step: Step) -> Tensor:
    """The largest change of a single weight, in size."""
    return _absmax(step.moved)


@metric("weight/norm", unit="weight", reads=Step, healthy="grows slowly, if at all")
def weight_norm(step: Step) -> Tensor:
    """2-norm of all parameters of an optimizer."""
    norm: Tensor = torch.linalg.vector_norm(step.weight_norms)
    return norm


@metric("optimizer/lr", unit="learning rate", reads=Step, healthy="above 0")
def learning_rate(step: Step) -> float:
    """Learning rate of the first parameter group."""
    return step.learning_rate


@metric("parameters", unit="mixed", reads=Step, healthy="every gradient above 0, every step too", kind="table")
def parameters(step: Step) -> tuple[list[str], Tensor]:
    """Per parameter tensor: gradient 2-norm and largest entry, share of its rows whose gradient is exactly zero (dead
    output units), 2-norm of the step, and norm, mean and standard deviation of the weights."""
    nan = torch.full((), float("nan"), device=step.after[0].device)
    norms = iter(step.grad_norms.unbind() if step.present else ())
    spread = [torch.std_mean(each.float(), correction=0) for each in step.after]
    columns = [
        torch.stack([nan if each is None else next(norms) for each in step.grads]),
        torch.stack([nan if each is None else torch.linalg.vector_norm(each.float(), _MAX) for each in step.grads]),
        torch.stack([nan if each is None or each.ndim < 2 else _zero_rows(each) for each in step.grads]),
        step.moved_norms,
        step.weight_norms,
        torch.stack([mean for _, mean in spread]),
        torch.stack([std for std, _ in spread]),
    ]
    return list(step.names), torch.stack(columns, dim=1)


_MAX = float("inf")


def _zero_rows(grad: Tensor) -> Tensor:
    return (grad.flatten(1).abs().amax(1) == 0).float().mean()


def _absmax(tensors: list[Tensor]) -> Tensor:
    low, high = torch.cat([each.reshape(-1) for each in tensors]).float().aminmax()
    return torch.maximum(high, -low)
