"""Running statistics: observations brought to mean 0 and standard deviation 1, rewards to the scale of the return."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn


class RunningNorm(nn.Module):
    """Normalises by the mean and variance of all data seen so far: `(…, *shape)` to the same, within ±`clip`.

    `update` learns the statistics, in train mode only: at evaluation they are frozen. The identity before any data.
    """

    mean: Tensor
    var: Tensor
    count: Tensor
    _mean: Tensor
    _inverse_std: Tensor

    def __init__(self, shape: tuple[int, ...] | int, *, clip: float = 5.0, eps: float = 1e-8):
        super().__init__()
        self.shape = (shape,) if isinstance(shape, int) else tuple(shape)
        self.clip, self.eps = clip, eps
        # In float32 a count stops growing at 16 million, and a mean of large numbers stops moving long before.
        self.register_buffer("mean", torch.zeros(self.shape, dtype=torch.float64))
        self.register_buffer("var", torch.ones(self.shape, dtype=torch.float64))
        self.register_buffer("count", torch.zeros((), dtype=torch.float64))
        self.register_buffer("_mean", torch.zeros(self.shape), persistent=False)
        self.register_buffer("_inverse_std", torch.ones(self.shape), persistent=False)
        self._seen = 0.0  # the count, known without asking the device
        self.register_load_state_dict_post_hook(_loaded)  # type: ignore[no-untyped-call]

    def forward(self, x: Tensor) -> Tensor:
        if not self._seen:
            return x
        return ((x - self._mean) * self._inverse_std).clamp(-self.clip, self.clip)

    @torch.no_grad()
    def update(self, x: Tensor) -> None:
        """Take in a batch, `(…, *shape)`. Once per rollout is cheaper than once per step, and gives the same."""
        x = torch.as_tensor(x)  # numpy too
        lead = x.ndim - len(self.shape)
        if lead < 0 or x.shape[lead:] != self.shape:
            raise ValueError(f"x has shape {tuple(x.shape)}, expected (…, *{self.shape})")
        if not self.training:
            return
        rows = x.reshape(-1, *self.shape).double()
        if len(rows) == 0:
            return
        var, mean = torch.var_mean(rows, 0, correction=0)
        if mean.device.type == "cpu" and not math.isfinite(float(mean.sum())):
            raise ValueError("x has NaN or infinite entries: they would stay in the statistics for ever")
        self._take_in(mean, var, len(rows))

    @torch.no_grad()
    def merge(self, other: RunningNorm) -> None:
        """Take in what another has seen, as if all of it had been seen here. What both have seen counts twice."""
        if other.shape != self.shape:
            raise ValueError(f"the other has shape {other.shape}, expected {self.shape}")
        if other._seen:
            self._take_in(other.mean.to(self.mean.device), other.var.to(self.mean.device), other._seen)

    @torch.no_grad()
    def refresh(self) -> None:
        """To be called when `mean`, `var` or `count` were written to from outside (not by `load_state_dict`)."""
        self._seen = float(self.count)
        self._cache()

    def _take_in(self, mean: Tensor, var: Tensor, count: float) -> None:
        """The parallel merge of Chan et al.: exact, and without sums of squares, which cancel at a large mean."""
        self._seen += count
        share = count / self._seen
        delta = mean - self.mean
        # All in place: tensors made anew under inference_mode could not be used in training.
        self.mean.lerp_(mean, share)
        self.var.lerp_(var, share).addcmul_(delta, delta, value=share * (1 - share))
        self.count.fill_(self._seen)
        self._cache()

    def _cache(self) -> None:
        self._mean.copy_(self.mean)
        self._inverse_std.copy_((self.var + self.eps).rsqrt_())


def _loaded(module: nn.Module, _: Any) -> None:
    assert isinstance(module, RunningNorm)
    module.refresh()


class ReturnScale:
    """Divides rewards by the running standard deviation of the discounted return, and clips them to ±`clip`.

    Not centred: to subtract a mean reward would change which policy is best. The return runs forward, Rₜ = γ Rₜ₋₁ + rₜ,
    from 0 in each episode and environment. After `eval()` nothing is learned.
    """

    def __init__(self, envs: int, *, gamma: float, clip: float = 10.0, eps: float = 1e-8):
        self.envs, self.gamma, self.clip, self.eps = envs, gamma, clip, eps
        self.mean, self.var, self.count = 0.0, 1.0, 0.0
        self.carried = np.zeros(envs)  # γ R of the step before; 0 where an episode ended there
        self.training = True

    def __call__(self, reward: np.ndarray[Any, Any], ended: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """`reward` and `ended` (terminated or truncated), `(B,)` or `(T, B)`, to float32 of the same shape. A block is
        taken in as a whole, then scaled by one number."""
        reward, ended = np.asarray(reward, np.float64), np.asarray(ended, bool)
        if reward.shape != ended.shape or reward.ndim not in (1, 2) or reward.shape[-1] != self.envs:
            shapes = f"reward has shape {reward.shape} and ended {ended.shape}"
            raise ValueError(f"{shapes}, expected ({self.envs},) or (T, {self.envs}) for both")
        if self.training and reward.size:
            self._take_in(np.atleast_2d(reward), np.atleast_2d(ended))
        scaled = reward / math.sqrt(self.var + self.eps)
        return np.minimum(np.maximum(scaled, -self.clip), self.clip).astype(np.float32)

    def _take_in(self, reward: np.ndarray[Any, Any], ended: np.ndarray[Any, Any]) -> None:
        if not np.isfinite(reward).all():
            raise ValueError("reward has NaN or infinite entries: they would stay in the statistics for ever")
        returns = reward.copy()
        returns[0] += self.carried
        decay = np.where(ended, 0.0, self.gamma)  # from each step to the next
        # Rₜ = rₜ + γₜ₋₁ Rₜ₋₁ for all steps, in log₂ T passes: after the pass of 2ᵏ each sum reaches back 2ᵏ⁺¹ steps.
        reach, factor = 1, decay[:-1].copy()
        while reach < len(returns):
            returns[reach:] += factor * returns[:-reach]
            factor = factor[reach:] * factor[:-reach]
            reach *= 2
        mean, var = float(returns.mean()), float(returns.var())
        self.carried = decay[-1] * returns[-1]
        self.count += returns.size
        share, delta = returns.size / self.count, mean - self.mean
        self.mean += delta * share
        self.var += (var - self.var) * share + delta * delta * share * (1 - share)

    def train(self, mode: bool = True) -> ReturnScale:
        self.training = mode
        return self

    def eval(self) -> ReturnScale:
        return self.train(False)

    def state_dict(self) -> dict[str, Any]:
        """Plain numbers, and the running returns as a tensor `(B,)`."""
        carried = torch.from_numpy(self.carried.copy())
        return {"mean": self.mean, "var": self.var, "count": self.count, "carried": carried}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        carried = torch.as_tensor(state["carried"], dtype=torch.float64).numpy().copy()
        if carried.shape != (self.envs,):
            raise ValueError(f"the state is of {carried.size} environments, expected {self.envs}")
        self.mean, self.var, self.count = (float(state[name]) for name in ("mean", "var", "count"))
        self.carried = carried
