"""What a training loop hands over: Rollout, Transitions, Update — and what the hooks see: Step, Activations,
Episodes, Pace, Device.

Time first: `(T, B, …)`. Never a `done`: always `terminated` and `truncated`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.distributions import Categorical, Distribution, Independent, OneHotCategorical


@dataclass(frozen=True)
class Rollout:
    """What acting produced, time-major."""

    handed_over_by: ClassVar[str] = "dbg.rollout(...)"

    obs: Tensor | None = None  # (T, B, …)
    action: Tensor | None = None  # (T, B) or (T, B, …)
    reward: Tensor | None = None  # (T, B)
    terminated: Tensor | None = None  # (T, B)
    truncated: Tensor | None = None  # (T, B)
    value: Tensor | None = None  # (T, B) V(s_t) at acting time
    logp: Tensor | None = None  # (T, B) of the action taken, by the policy that took it
    epsilon: float | None = None


@dataclass(frozen=True)
class Transitions:
    """A batch sampled from replay."""

    handed_over_by: ClassVar[str] = "dbg.replay(...)"

    obs: Tensor | None = None  # (N, …)
    action: Tensor | None = None
    reward: Tensor | None = None  # (N,)
    next_obs: Tensor | None = None
    terminated: Tensor | None = None
    truncated: Tensor | None = None


@dataclass(frozen=True)
class Update:
    """What one learner step saw: its batch, flattened to `(N,)`, and its losses."""

    handed_over_by: ClassVar[str] = "dbg.update(...)"

    loss: Mapping[str, Tensor] = field(default_factory=dict)
    logp_old: Tensor | None = None
    logp_new: Tensor | None = None
    value: Tensor | None = None
    target: Tensor | None = None
    advantage: Tensor | None = None
    entropy: Tensor | None = None
    kl: Tensor | None = None
    dist: Distribution | None = None
    dist_old: Distribution | None = None
    mask: Tensor | None = None  # (N, actions), True where an action is allowed
    collected_at: Tensor | None = None  # learner age (dbg.age) at which each row was collected
    clip: float | None = None
    kl_limit: float | None = None  # of the mean KL divergence, where the step promises to stay within it
    epsilon: float | None = None
    age: int = 0  # learner steps done before this one
    since_rollout: int | None = None  # updates since the rollout it learns from; 0 is the first minibatch
    action_low: Tensor | None = None  # bounds of a continuous action space, where the env is watched
    action_high: Tensor | None = None
    rollout_logp: Tensor | None = None  # what acting handed over for the rollout this update learns from

    # Shared by several metrics, so computed once. Callers hold `torch.no_grad()`.

    @cached_property
    def log_ratio(self) -> Tensor:
        assert self.logp_old is not None and self.logp_new is not None
        return self.logp_new - self.logp_old

    @cached_property
    def ratio(self) -> Tensor:
        return self.log_ratio.exp()

    @cached_property
    def log_probs(self) -> Tensor | None:
        """Log-probabilities of a discrete policy, `(N, actions)`."""
        return log_probs_of(self.dist)

    @cached_property
    def probs(self) -> Tensor:
        assert self.log_probs is not None
        return self.log_probs.exp()

    @cached_property
    def row_entropy(self) -> Tensor:
        """Per row. A forbidden action has probability 0 and log-probability −inf: `xlogy` makes it add 0."""
        terms: Tensor = torch.special.xlogy(self.probs, self.probs)
        return -terms.sum(-1)

    @property
    def rows(self) -> int | None:
        for each in (self.advantage, self.target, self.value, self.logp_new, self.logp_old):
            if each is not None:
                return each.numel()
        return None


@dataclass(frozen=True)
class Step:
    """One `optimizer.step()`: the parameters it owns before and after, and the gradients it used."""

    handed_over_by: ClassVar[str] = "rldebug.watch(optimizer=...)"

    optimizer: str
    names: tuple[str, ...]
    before: Sequence[Tensor]
    after: Sequence[Tensor]
    grads: Sequence[Tensor | None]
    learning_rate: float
    moments: AdamMoments | None = None
    rows: int | None = None

    # Shared by several metrics, so computed once.

    @cached_property
    def present(self) -> list[Tensor]:
        """The gradients that exist."""
        return [each for each in self.grads if each is not None]

    @cached_property
    def grad_norms(self) -> Tensor:
        return norms(self.present)

    @cached_property
    def moved(self) -> list[Tensor]:
        return list(torch._foreach_sub(list(self.after), list(self.before)))

    @cached_property
    def moved_norms(self) -> Tensor:
        return norms(self.moved)

    @cached_property
    def weight_norms(self) -> Tensor:
        return norms(self.after)


@dataclass(frozen=True)
class AdamMoments:
    """Adam's running moments after a step, not yet corrected for their zero start."""

    first: Sequence[Tensor]
    second: Sequence[Tensor]
    beta1: float
    beta2: float
    steps: int


@dataclass(frozen=True)
class GradientWindow:
    """Gradients of consecutive updates, as squared norms: each batch alone, and the mean over all of them."""

    handed_over_by: ClassVar[str] = "rldebug.watch(optimizer=...)"

    small_sq: Tensor  # mean over updates of |g_i|²
    big_sq: Tensor  # |mean over updates of g_i|²
    small_rows: int
    big_rows: int


@dataclass(frozen=True)
class Activations:
    """What the layers of the watched networks put out during one training forward pass."""

    handed_over_by: ClassVar[str] = "rldebug.watch(policy=..., critic=...)"

    outputs: Mapping[str, Tensor]  # layer name -> (N, …)
    kinds: Mapping[str, str]  # layer name -> class name


@dataclass(frozen=True)
class ActivationGradients:
    """What the backward pass sent to the outputs of those layers."""

    handed_over_by: ClassVar[str] = "rldebug.watch(policy=..., critic=...)"

    gradients: Mapping[str, Tensor]  # layer name -> (N, …)


@dataclass(frozen=True)
class Episodes:
    """Episodes that ended since the last reading, as the environment itself reported them."""

    handed_over_by: ClassVar[str] = "rldebug.watch(env=...)"

    returns: np.ndarray
    lengths: np.ndarray
    terminated: int
    truncated: int
    reward_sum: float
    steps: int


@dataclass(frozen=True)
class Pace:
    """Counts and seconds between two readings."""

    handed_over_by: ClassVar[str] = "rldebug.watch(env=...) or dbg.rollout(...)"

    seconds: float
    env_steps: int
    updates: int
    rows: int


@dataclass(frozen=True)
class Pair:
    """A network and its target copy."""

    handed_over_by: ClassVar[str] = "rldebug.watch(critic=..., target=...)"

    online: Sequence[Tensor]
    target: Sequence[Tensor]


@dataclass(frozen=True)
class Device:
    """Readings of the machine; None where there is no such sensor."""

    handed_over_by: ClassVar[str] = "a CUDA device (and `pip install rldebug[gpu]`)"

    resident: int | None = None  # bytes of host memory in use by the process
    allocated: int | None = None
    reserved: int | None = None
    gross: int | None = None
    utilisation: float | None = None
    temperature: float | None = None
    fan: float | None = None


def norms(tensors: Sequence[Tensor], order: float = 2.0) -> Tensor:
    """One norm per tensor, in one call for all of them. Half precision is widened first: its squares overflow."""
    wide = [each.float() if each.element_size() < 4 else each for each in tensors]
    return torch.stack(torch._foreach_norm(wide, order)).float()


def log_probs_of(dist: Distribution | None) -> Tensor | None:
    base = dist.base_dist if isinstance(dist, Independent) else dist
    if not isinstance(base, (Categorical, OneHotCategorical)):
        return None
    return wide(base.logits.detach())


def wide(tensor: Tensor) -> Tensor:
    """Half precision, as autocast gives it, is too coarse for sums of squares."""
    return tensor.float() if tensor.dtype in (torch.bfloat16, torch.float16) else tensor
