"""Distributions over the actions of a Gymnasium space: what `rldebug.parts.heads.Output` returns.

All of them speak the same language. `N` is the batch; an action has the shape of the space, `(N, *space.shape)`, and
choices are counted from 0 whatever the `start` of the space (`to_env` adds it). Plain tensor operations, made when they
are first needed: acting pays for a sample and a log-probability, and for nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import numpy as np
import torch
import torch.nn.functional as F
from gymnasium import spaces
from torch import Tensor, distributions

FORBIDDEN = -1e8  # the logit of a masked action: probability exactly 0, but 0 · log 0 stays 0 where −inf makes it NaN


class ActionDistribution(Protocol):
    """What every distribution here can do. Actions of a Dict or Tuple space are dicts or tuples of tensors."""

    def sample(self) -> Any:
        """An action per row, without a graph. Uses torch's global random numbers, and never waits for the device."""

    def mode(self) -> Any:
        """The most likely action per row, without a graph."""

    def log_prob(self, action: Any) -> Tensor:
        """`(N,)`: the log-probability of one action per row, summed over what is chosen together."""

    def entropy(self) -> Tensor:
        """`(N,)`, in nats."""

    def kl(self, other: Any) -> Tensor:
        """`(N,)`: KL(self ‖ other), exact, row by row."""

    def detach(self) -> Any:
        """The same distribution, cut from the graph: what TRPO and penalty PPO keep as the old policy."""

    def to_env(self, action: Any) -> Any:
        """The action as a vector environment's `step` takes it: numpy, the dtype of the space, within its bounds."""

    def torch(self) -> distributions.Distribution:
        """The same as a `torch.distributions` object of batch shape `(N,)`, for `dbg.update(dist=...)`."""

    @property
    def max_entropy(self) -> float | None:
        """The entropy of the uniform policy over a discrete space (masks not counted); None if it is not discrete."""


class Categorical:
    """A choice per row, `logits` of shape `(N, n)`; or several at once, independently: `(N, *space.shape, n)`."""

    __slots__ = ("_log_probs", "logits", "space")

    def __init__(self, logits: Tensor, space: spaces.Space[Any]):
        self.logits, self.space = logits, space
        self._log_probs: Tensor | None = None

    @property
    def log_probs(self) -> Tensor:
        """Normalised, in the shape of `logits`; computed once."""
        if self._log_probs is None:
            self._log_probs = self.logits.log_softmax(-1)
        return self._log_probs

    def sample(self) -> Tensor:
        # A race of exponential clocks with rates exp(logits) is won with the probabilities of the softmax: a tenth of
        # the time of torch.multinomial on a small batch. Unlike multinomial it does not notice NaN logits.
        logits = self.logits.detach()
        return torch.empty_like(logits).exponential_().log_().sub_(logits).argmin(-1)

    def mode(self) -> Tensor:
        return self.logits.detach().argmax(-1)

    def log_prob(self, action: Tensor) -> Tensor:
        if action.shape != self.logits.shape[:-1]:
            raise _wrong_shape(action, self.logits.shape[:-1])  # gather would accept fewer rows, and answer for those
        if action.dtype != torch.int64:
            action = _integer(action)
        chosen = self.log_probs.gather(-1, action.unsqueeze(-1)).squeeze(-1)
        return _per_row(chosen, self.space)

    def entropy(self) -> Tensor:
        # Not torch.special.entr(probs): its gradient is NaN where a probability is 0.
        return _per_row(-(self.log_probs.exp() * self.log_probs).sum(-1), self.space)

    def kl(self, other: Categorical) -> Tensor:
        return _per_row((self.log_probs.exp() * (self.log_probs - other.log_probs)).sum(-1), self.space)

    def detach(self) -> Categorical:
        return Categorical(self.logits.detach(), self.space)

    def to_env(self, action: Tensor) -> np.ndarray[Any, Any]:
        start = getattr(self.space, "start", 0)  # MultiBinary has none
        return np.asarray(_numpy(action) + start, dtype=self.space.dtype)

    def torch(self) -> distributions.Distribution:
        return _independent(distributions.Categorical(logits=self.logits, validate_args=False), self.space)

    @property
    def max_entropy(self) -> float:
        if isinstance(self.space, spaces.Discrete):
            return math.log(self.space.n)
        if isinstance(self.space, spaces.MultiDiscrete):
            return float(np.log(self.space.nvec).sum())
        return math.prod(self.space.shape or ()) * math.log(2)  # MultiBinary: a coin each


class Gaussian:
    """Independent normal numbers: `mean` `(N, *space.shape)`, `log_std` the same or without the batch.

    The action is what was drawn, unbounded, and so is its log-probability; only `to_env` clips to the bounds.
    """

    __slots__ = ("log_std", "mean", "space")

    def __init__(self, mean: Tensor, log_std: Tensor, space: spaces.Box):
        self.mean, self.log_std, self.space = mean, log_std, space

    def sample(self) -> Tensor:
        with torch.no_grad():
            return self.rsample()

    def rsample(self) -> Tensor:
        """A sample through which gradients flow."""
        # Not torch.normal: it asks for the smallest std, which waits for the device.
        return torch.addcmul(self.mean, self.log_std.exp(), torch.randn_like(self.mean))

    def mode(self) -> Tensor:
        return self.mean.detach()

    def log_prob(self, action: Tensor) -> Tensor:
        # Store the unclipped action: the density of a clipped one is not what acted, and the ratio of PPO is off.
        if action.shape != self.mean.shape:
            raise _wrong_shape(action, self.mean.shape)
        return _normal_log_prob(action, self.mean, self.log_std, self.space)

    def entropy(self) -> Tensor:
        return _per_row((self.log_std + _HALF_LOG_2PI_E).expand_as(self.mean), self.space)

    def kl(self, other: Gaussian) -> Tensor:
        return _normal_kl(self, other)

    def detach(self) -> Gaussian:
        # A copy: log_std is the parameter itself, and an optimizer's step in place would move the old policy with it.
        return Gaussian(self.mean.detach(), self.log_std.detach().clone(), self.space)

    def to_env(self, action: Tensor) -> np.ndarray[Any, Any]:
        return _within(self.space, action)

    def torch(self) -> distributions.Distribution:
        return _independent(_normal(self), self.space)

    @property
    def max_entropy(self) -> None:
        return None


class SquashedGaussian:
    """`centre + reach · tanh(u)`, u normal with `mean` and `log_std`: always inside the bounds.

    `centre` and `reach` are those of the bounds, in the shape of the space, on the device of `mean`.
    """

    __slots__ = ("_drawn", "centre", "log_std", "mean", "reach", "space")

    def __init__(self, mean: Tensor, log_std: Tensor, space: spaces.Box, centre: Tensor, reach: Tensor):
        self.mean, self.log_std, self.space, self.centre, self.reach = mean, log_std, space, centre, reach
        self._drawn: tuple[Tensor, Tensor] | None = None  # the last action, and the u it came from

    def sample(self) -> Tensor:
        with torch.no_grad():
            return self.rsample()

    def rsample(self) -> Tensor:
        """A sample through which gradients flow."""
        u = torch.addcmul(self.mean, self.log_std.exp(), torch.randn_like(self.mean))
        action = torch.addcmul(self.centre, self.reach, u.tanh())
        self._drawn = action, u
        return action

    def mode(self) -> Tensor:
        """The action of the mean of u."""
        with torch.no_grad():
            return torch.addcmul(self.centre, self.reach, self.mean.tanh())

    def log_prob(self, action: Tensor) -> Tensor:
        """Exact for the very tensor last drawn here. Any other action is taken back through atanh, which in float32 can
        tell a u beyond ±9 from nothing: what lies at the bounds counts as lying just inside."""
        if action.shape != self.mean.shape:
            raise _wrong_shape(action, self.mean.shape)
        if self._drawn is not None and self._drawn[0] is action:
            u = self._drawn[1]
        else:
            edge = 1 - torch.finfo(self.mean.dtype).eps
            u = ((action - self.centre) / self.reach).clamp(-edge, edge).atanh()
        # log(1 − tanh²u), which as written is log 0 from u ≈ 9 on
        log_slope = 2 * (_LOG_2 - u - F.softplus(-2 * u)) + self.reach.log()
        return _normal_log_prob(u, self.mean, self.log_std, self.space) - _per_row(log_slope, self.space)

    def entropy(self) -> Tensor:
        """An estimate from one sample per row, with its gradient: the entropy has no closed form."""
        return -self.log_prob(self.rsample())

    def kl(self, other: SquashedGaussian) -> Tensor:
        """That of the Gaussians before the tanh: a one-to-one map changes no KL divergence."""
        return _normal_kl(self, other)

    def detach(self) -> SquashedGaussian:
        return SquashedGaussian(self.mean.detach(), self.log_std.detach(), self.space, self.centre, self.reach)

    def to_env(self, action: Tensor) -> np.ndarray[Any, Any]:
        return _within(self.space, action)  # rounding puts centre + reach a bit above the bound

    def torch(self) -> distributions.Distribution:
        dims = len(self.space.shape)
        bounds = distributions.AffineTransform(self.centre, self.reach, event_dim=dims)
        return distributions.TransformedDistribution(
            _independent(_normal(self), self.space),
            [distributions.TanhTransform(), bounds],
            validate_args=False,
        )

    @property
    def max_entropy(self) -> None:
        return None


class Joint:
    """The parts of a Dict or Tuple space, chosen independently; actions are dicts or tuples like `parts`."""

    __slots__ = ("parts",)

    def __init__(self, parts: dict[str, Any] | tuple[Any, ...]):
        self.parts = parts

    def sample(self) -> Any:
        return self._each(lambda part: part.sample())

    def mode(self) -> Any:
        return self._each(lambda part: part.mode())

    def log_prob(self, action: Any) -> Tensor:
        return _total(part.log_prob(given) for part, given in self._beside(action))

    def entropy(self) -> Tensor:
        return _total(part.entropy() for part in self._list())

    def kl(self, other: Joint) -> Tensor:
        return _total(part.kl(their) for part, their in self._beside(other.parts))

    def detach(self) -> Joint:
        return Joint(self._each(lambda part: part.detach()))

    def to_env(self, action: Any) -> Any:
        if isinstance(self.parts, dict):
            return {name: part.to_env(action[name]) for name, part in self.parts.items()}
        return tuple(part.to_env(given) for part, given in self._beside(action))

    def torch(self) -> distributions.Distribution:
        return TorchJoint(self)

    @property
    def max_entropy(self) -> float | None:
        each = [part.max_entropy for part in self._list()]
        return None if None in each else sum(each)

    def _list(self) -> list[Any]:
        return list(self.parts.values() if isinstance(self.parts, dict) else self.parts)

    def _each(self, call: Callable[[Any], Any]) -> Any:
        if isinstance(self.parts, dict):
            return {name: call(part) for name, part in self.parts.items()}
        return tuple(map(call, self.parts))

    def _beside(self, others: Any) -> list[tuple[Any, Any]]:
        """Each part with the one of `others` that belongs to it."""
        if isinstance(self.parts, dict):
            if not isinstance(others, dict) or others.keys() != self.parts.keys():
                got = f"a dict of {sorted(others)}" if isinstance(others, dict) else f"a {type(others).__name__}"
                raise ValueError(f"the action is {got}, expected a dict of {sorted(self.parts)}")
            return [(part, others[name]) for name, part in self.parts.items()]
        if not isinstance(others, (tuple, list)) or len(others) != len(self.parts):
            got = f"{len(others)} parts" if isinstance(others, (tuple, list)) else f"a {type(others).__name__}"
            raise ValueError(f"the action is {got}, expected a tuple of {len(self.parts)} parts")
        return list(zip(self.parts, others, strict=True))


class TorchJoint(distributions.Distribution):
    """A `Joint` in the dress of torch.distributions, which has none of its own."""

    arg_constraints = {}  # noqa: RUF012

    def __init__(self, joint: Joint):
        self.joint = joint
        first = joint._list()[0].torch()
        super().__init__(first.batch_shape, validate_args=False)

    def sample(self, sample_shape: Any = ()) -> Any:
        if sample_shape:
            raise ValueError(f"sample_shape is {tuple(sample_shape)}: a joint distribution draws one action per row")
        return self.joint.sample()

    def log_prob(self, value: Any) -> Tensor:
        return self.joint.log_prob(value)

    def entropy(self) -> Tensor:
        return self.joint.entropy()


@distributions.register_kl(TorchJoint, TorchJoint)  # type: ignore[no-untyped-call, untyped-decorator]
def _kl_joint(p: TorchJoint, q: TorchJoint) -> Tensor:
    return p.joint.kl(q.joint)


_LOG_2 = math.log(2)
_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
_HALF_LOG_2PI_E = 0.5 + _HALF_LOG_2PI


def _per_row(each: Tensor, space: spaces.Space[Any]) -> Tensor:
    """Sums over the shape of the space. Not over `dim=()`, which for torch means all of them."""
    dims = len(space.shape or ())
    if dims == 0:
        return each
    return each.sum(-1) if dims == 1 else each.flatten(-dims).sum(-1)


def _total(each: Iterable[Tensor]) -> Tensor:
    first, *rest = each
    return sum(rest, start=first)


def _normal_log_prob(x: Tensor, mean: Tensor, log_std: Tensor, space: spaces.Box) -> Tensor:
    z = (x - mean) / log_std.exp()
    return -math.prod(space.shape) * _HALF_LOG_2PI - _per_row(torch.addcmul(log_std, z, z, value=0.5), space)


def _normal_kl(p: Gaussian | SquashedGaussian, q: Gaussian | SquashedGaussian) -> Tensor:
    variances, distance = (2 * (p.log_std - q.log_std)).exp(), (p.mean - q.mean) * (-q.log_std).exp()
    return _per_row(0.5 * (variances + distance.square() - 1) - (p.log_std - q.log_std), p.space)


def _normal(of: Gaussian | SquashedGaussian) -> distributions.Distribution:
    return distributions.Normal(of.mean, of.log_std.exp().expand_as(of.mean), validate_args=False)


def _independent(base: distributions.Distribution, space: spaces.Space[Any]) -> distributions.Distribution:
    dims = len(space.shape or ())
    return distributions.Independent(base, dims, validate_args=False) if dims else base


def _numpy(action: Tensor) -> np.ndarray[Any, Any]:
    array: np.ndarray[Any, Any] = action.detach().cpu().numpy()
    return array


def _within(space: spaces.Box, action: Tensor) -> np.ndarray[Any, Any]:
    array = np.minimum(np.maximum(_numpy(action), space.low), space.high)
    if space.dtype is not None and space.dtype.kind in "iu":
        array = np.rint(array)  # astype alone cuts off towards 0
    return np.asarray(array, space.dtype)


def _integer(action: Tensor) -> Tensor:
    if action.is_floating_point() or action.is_complex():
        raise TypeError(f"the action is {action.dtype}, expected integers: which choice was made, counted from 0")
    return action.long()


def _wrong_shape(action: Tensor, expected: torch.Size) -> ValueError:
    return ValueError(f"the action has shape {tuple(action.shape)}, expected {tuple(expected)}: one per row")
