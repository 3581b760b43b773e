"""From any Gymnasium observation to a flat vector (`Intake`), and from a flat vector to any action space (`Output`)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, TypeVar, cast

import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor, nn

from rldebug.parts.distributions import (
    FORBIDDEN,
    ActionDistribution,
    Categorical,
    Gaussian,
    Joint,
    SquashedGaussian,
)
from rldebug.rollout import wide

LOG_STD_MIN, LOG_STD_MAX = -20.0, 2.0  # of a squashed Gaussian: below, log-probs blow up; above, every tanh saturates


def as_tensor(space: spaces.Space[Any], obs: Any, device: str | torch.device = "cpu") -> Any:
    """A batch of observations of `space` (that of one environment) as torch tensors of the same structure.

    float32, except: uint8 images stay uint8, choices (Discrete, MultiDiscrete) are int64. On the CPU a numpy array that
    has its dtype already is not copied: the tensor sees what is written to the array later.
    """
    if (  # nearly every step of nearly every program; the rest below gives the same in three times the time
        type(obs) is np.ndarray
        and obs.dtype == space.dtype == _FLOAT32
        and isinstance(space, spaces.Box)
        and obs.shape[1:] == space.shape
        and (obs.flags.c_contiguous and obs.flags.writeable)
        and device in _CPU
    ):
        return torch.from_numpy(obs)
    if isinstance(space, spaces.Dict):
        return {name: as_tensor(part, obs[name], device) for name, part in space.spaces.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(as_tensor(part, given, device) for part, given in zip(space.spaces, obs, strict=True))
    dtype, shape = _dtype(space), space.shape
    assert shape is not None
    if not isinstance(obs, Tensor):
        obs = np.asarray(obs, dtype)
    lead = obs.ndim - len(shape)
    if lead < 1 or obs.shape[lead:] != shape:
        hint = "; a single observation needs a batch dimension, obs[None]" if obs.shape == shape else ""
        raise ValueError(f"obs has shape {tuple(obs.shape)}, expected (batch, *{shape}) of {space}{hint}")
    if isinstance(obs, Tensor):
        return obs.to(device, _TORCH[dtype])
    try:
        tensor = torch.from_numpy(obs if obs.flags.writeable else obs.copy())  # torch warns of read-only arrays
    except ValueError:
        tensor = torch.from_numpy(obs.copy())  # and refuses flipped ones
    # Not to wait is safe: memory that is not pinned has been read when the call returns.
    return tensor if device in _CPU else tensor.to(device, non_blocking=True)


def is_image(space: spaces.Space[Any]) -> bool:
    """Whether `Intake` takes it for pixels: uint8 of two or three dimensions, or others of three from 0 to 1 or 255."""
    if not isinstance(space, spaces.Box):
        return False
    if space.dtype == np.uint8:
        return len(space.shape) in (2, 3)
    return len(space.shape) == 3 and bool((space.low == 0).all()) and float(space.high.max()) in (1.0, 255.0)


class Intake(nn.Module):
    """Observations, as `as_tensor` gives them, to a flat vector `(N, width)`: an encoding, then an MLP of `hidden`.

    Vectors are flattened; choices become one-hot; the parts of a Dict or Tuple are encoded one by one and laid side by
    side. Images (`is_image`; of three dimensions the smaller of the first and the last are the channels) are divided by
    their upper bound and go through convolutions. `hidden=()` leaves the encoding as it is.
    """

    def __init__(
        self,
        space: spaces.Space[Any],
        *,
        hidden: Sequence[int] = (64, 64),
        activation: Callable[[], nn.Module] = nn.Tanh,
        gain: float = 2**0.5,
    ):
        super().__init__()
        encoder, self.width = _encoder(space)
        layers = [] if isinstance(encoder, nn.Identity) else [encoder]
        for size in hidden:
            layers += [_linear(self.width, size, gain), activation()]
            self.width = size
        self.net = nn.Sequential(*layers)

    def forward(self, obs: Any) -> Tensor:
        return cast(Tensor, self.net(obs))


class Output(nn.Module):
    """A flat vector `(N, width)` to a distribution over the actions of `space` (that of one environment).

    Discrete, MultiDiscrete, MultiBinary: `Categorical`. Box: `Gaussian` (`kind="gaussian"`, the default: a learned
    log-std that does not depend on the state) or `SquashedGaussian` (`kind="squashed"`: tanh onto the bounds, log-std
    from the state). Dict, Tuple: `Joint`. `zero` starts the last layer at 0, so that every state begins with the same,
    most random policy; otherwise it is orthogonal, with gain 0.01. `log_std` is what log-stds start from.
    """

    def __init__(
        self,
        space: spaces.Space[Any],
        width: int,
        *,
        kind: str | None = None,
        zero: bool = True,
        log_std: float = 0.0,
    ):
        super().__init__()
        if kind not in (None, "gaussian", "squashed"):
            raise ValueError(f"kind is {kind!r}, expected 'gaussian' or 'squashed'")
        if kind is not None and not _has_box(space):
            raise ValueError(f"kind is {kind!r}, but {space} has no Box in it: its actions are choices, not numbers")
        self.head: _Head = _head(space, width, kind or "gaussian", zero, log_std)

    def forward(self, features: Tensor, mask: Any = None) -> ActionDistribution:
        """`mask`: bool, True where a choice is allowed; broadcastable to `(N, n)`, for MultiDiscrete to
        `(N, n₁ + n₂ + …)`; for a joint space a dict or tuple of such, with None for parts without. A row that allows
        nothing is refused on the CPU; on a GPU it is not noticed, since to look would be to wait for the device."""
        return self.head.distribution(features, mask)


def mlp(
    sizes: Sequence[int],
    activation: Callable[[], nn.Module] = nn.Tanh,
    gain: float = 2**0.5,
    last_gain: float = 1.0,
) -> nn.Sequential:
    """Linear layers from `sizes[0]` to `sizes[-1]`, an activation between any two; orthogonal weights, biases 0."""
    if len(sizes) < 2:
        raise ValueError(f"sizes is {tuple(sizes)}, expected at least two: of the input and of the output")
    layers: list[nn.Module] = []
    for before, after in pairwise(sizes[:-1]):
        layers += [_linear(before, after, gain), activation()]
    return nn.Sequential(*layers, _linear(sizes[-2], sizes[-1], last_gain))


# ── Encodings of observations ──


class _Flat(nn.Module):
    """Numbers of any shape to one row."""

    def __init__(self, dims: int, scale: float):
        super().__init__()
        self.dims, self.scale = dims, scale

    def forward(self, obs: Tensor) -> Tensor:
        row = obs.flatten(-self.dims) if self.dims else obs.unsqueeze(-1)
        if self.scale != 1:
            return row * self.scale
        return row if row.is_floating_point() else row.float()


class _OneHot(nn.Module):
    """Choices of any shape to their one-hot codes, side by side."""

    first: Tensor
    sizes: Tensor
    offsets: Tensor

    def __init__(self, sizes: np.ndarray[Any, Any], start: np.ndarray[Any, Any]):
        super().__init__()
        self.dims, self.width = sizes.ndim, int(sizes.sum())
        flat = torch.as_tensor(sizes, dtype=torch.int64).reshape(-1)
        self.register_buffer("sizes", flat, persistent=False)
        self.register_buffer("first", torch.as_tensor(start, dtype=torch.int64).reshape(-1), persistent=False)
        self.register_buffer("offsets", flat.cumsum(0) - flat, persistent=False)

    def forward(self, obs: Tensor) -> Tensor:
        index = (obs.flatten(-self.dims) if self.dims else obs.unsqueeze(-1)) - self.first
        # A value out of range would light up its neighbour's code. Looked for where looking does not wait.
        if index.device.type == "cpu" and bool(((index < 0) | (index >= self.sizes)).any()):
            raise ValueError(f"obs has values from {obs.min()} to {obs.max()}, expected {self._range()}")
        codes = torch.zeros(*index.shape[:-1], self.width, device=obs.device)
        return codes.scatter_(-1, index + self.offsets, 1.0)

    def _range(self) -> str:
        return f"integers from {self.first.tolist()} to {(self.first + self.sizes - 1).tolist()}"


class _Image(nn.Module):
    """Convolutions and one linear layer: those of Mnih et al. (2015) from 36 pixels on, smaller ones below."""

    def __init__(self, space: spaces.Box):
        super().__init__()
        self.shape = space.shape
        self.channels_last = len(space.shape) == 3 and space.shape[2] < space.shape[0]
        shape = space.shape if len(space.shape) == 3 else (1, *space.shape)
        channels, height, width = (shape[2], *shape[:2]) if self.channels_last else shape
        self.scale = _scale(space)
        if min(height, width) >= 36:
            kernels, self.width = ((32, 8, 4, 0), (64, 4, 2, 0), (64, 3, 1, 0)), 512
        else:
            kernels, self.width = ((32, 3, 1, 1), (64, 3, 2, 1), (64, 3, 2, 1)), 128
        layers: list[nn.Module] = []
        for size, kernel, stride, padding in kernels:
            layers += [_orthogonal(nn.Conv2d(channels, size, kernel, stride, padding), 2**0.5), nn.ReLU()]
            channels, height, width = size, *((side + 2 * padding - kernel) // stride + 1 for side in (height, width))
        flat = channels * height * width
        self.net = nn.Sequential(*layers, nn.Flatten(), _linear(flat, self.width, 2**0.5), nn.ReLU())

    def forward(self, obs: Tensor) -> Tensor:
        lead = obs.shape[: obs.ndim - len(self.shape)]
        if obs.shape[len(lead) :] != self.shape:
            raise ValueError(f"obs has shape {tuple(obs.shape)}, expected (batch, *{self.shape})")
        image = obs.reshape(-1, *self.shape)
        if len(self.shape) == 2:
            image = image.unsqueeze(1)
        elif self.channels_last:
            image = image.permute(0, 3, 1, 2)
        # With the channels innermost, forward and backward take three quarters of the time (batch 256, CPU). Only the
        # images, not the weights: `weight.view(-1)`, which flattens parameters in many places, would fail on those.
        image = image.contiguous(memory_format=torch.channels_last)
        features = cast(Tensor, self.net(image * self.scale))
        return features if len(lead) == 1 else features.reshape(*lead, self.width)


class _Parts(nn.Module):
    """The encodings of a Dict or Tuple side by side, in the order of the space."""

    def __init__(self, keys: Sequence[Any], parts: Sequence[nn.Module]):
        super().__init__()
        self.keys, self.parts = tuple(keys), nn.ModuleList(parts)  # not a ModuleDict: it refuses some names

    def forward(self, obs: Any) -> Tensor:
        return torch.cat([part(obs[key]) for key, part in zip(self.keys, self.parts, strict=True)], -1)


def _encoder(space: spaces.Space[Any]) -> tuple[nn.Module, int]:
    """What turns an observation of `space` into one row, and the length of the row."""
    if isinstance(space, (spaces.Dict, spaces.Tuple)):
        parts = [_encoder(part) for part in _parts(space).values()]
        return _Parts(list(_parts(space)), [part for part, _ in parts]), sum(width for _, width in parts)
    if isinstance(space, spaces.Discrete):
        sizes = np.array(space.n)
        return _OneHot(sizes, np.array(space.start)), int(space.n)
    if isinstance(space, spaces.MultiDiscrete):
        return _OneHot(space.nvec, space.start), int(space.nvec.sum())
    if isinstance(space, spaces.MultiBinary):
        return _Flat(len(space.shape), 1.0), math.prod(space.shape)
    if not isinstance(space, spaces.Box):
        raise _refused(space, "an intake")
    if is_image(space):
        image = _Image(space)
        return image, image.width
    scale = _scale(space) if space.dtype == np.uint8 else 1.0
    plain = len(space.shape) == 1 and scale == 1
    return nn.Identity() if plain else _Flat(len(space.shape), scale), math.prod(space.shape)


def _scale(space: spaces.Box) -> float:
    """What brings 0 … high to 0 … 1."""
    high = float(space.high.max())
    return 1 / high if 0 < high < math.inf else 1.0


# ── Distributions over actions ──


class _Head(nn.Module, ABC):
    """The last layer, or several, and what to make of it. Not called as a module: that would be 2 µs per action."""

    @abstractmethod
    def distribution(self, features: Tensor, mask: Any) -> ActionDistribution: ...


class _Choices(_Head):
    """Discrete and MultiDiscrete. Rows of unequal lengths are padded with choices that are never allowed."""

    index: Tensor
    real: Tensor

    def __init__(self, space: spaces.Discrete | spaces.MultiDiscrete, width: int, zero: bool):
        super().__init__()
        self.space = space
        sizes = np.array(space.n if isinstance(space, spaces.Discrete) else space.nvec)
        self.shape, self.total = (*sizes.shape, int(sizes.max())), int(sizes.sum())
        self.linear = _last(width, self.total, zero)
        self.padded = bool(sizes.min() < sizes.max())
        if self.padded:
            column = torch.arange(self.shape[-1])
            length = torch.as_tensor(sizes, dtype=torch.int64).reshape(-1, 1)
            index = torch.where(column < length, length.cumsum(0) - length + column, 0)
            self.register_buffer("real", (column < length).reshape(self.shape), persistent=False)
            self.register_buffer("index", index.reshape(-1), persistent=False)

    def distribution(self, features: Tensor, mask: Tensor | None) -> Categorical:
        logits = self._arranged(wide(self.linear(features)))
        if mask is not None:
            logits = torch.where(self._allowed(mask), logits, FORBIDDEN)
        elif self.padded:
            logits = torch.where(self.real, logits, FORBIDDEN)
        return Categorical(logits, self.space)

    def _arranged(self, row: Tensor) -> Tensor:
        if self.padded:
            row = row.index_select(-1, self.index)
        return row if len(self.shape) == 1 else row.reshape(*row.shape[:-1], *self.shape)

    def _allowed(self, mask: Tensor) -> Tensor:
        if mask.dtype != torch.bool:
            raise TypeError(f"the mask is {mask.dtype}, expected bool, True where an action is allowed: mask.bool()")
        if mask.shape[-1] != self.total:
            raise ValueError(f"the mask has shape {tuple(mask.shape)}, expected (N, {self.total}) for {self.space}")
        allowed = self._arranged(mask)
        if self.padded:
            allowed = allowed & self.real
        if allowed.device.type == "cpu" and not bool(allowed.any(-1).all()):
            where = (~allowed.any(-1)).nonzero().tolist()
            raise ValueError(f"the mask allows no action at {where}, expected at least one everywhere")
        return allowed


class _Coins(_Head):
    """MultiBinary: a coin is a choice between 0 and 1, with logits 0 and what the layer says."""

    def __init__(self, space: spaces.MultiBinary, width: int, zero: bool):
        super().__init__()
        self.space = space
        self.linear = _last(width, math.prod(space.shape), zero)

    def distribution(self, features: Tensor, mask: None) -> Categorical:
        _no_mask(mask, self.space)
        ones = _shaped(wide(self.linear(features)), self.space.shape)
        return Categorical(torch.stack([torch.zeros_like(ones), ones], -1), self.space)


class _Gaussian(_Head):
    def __init__(self, space: spaces.Box, width: int, zero: bool, log_std: float):
        super().__init__()
        self.space = space
        self.linear = _last(width, math.prod(space.shape), zero)
        self.log_std = nn.Parameter(torch.full(space.shape, float(log_std)))

    def distribution(self, features: Tensor, mask: None) -> Gaussian:
        _no_mask(mask, self.space)
        return Gaussian(_shaped(wide(self.linear(features)), self.space.shape), self.log_std, self.space)


class _Squashed(_Head):
    centre: Tensor
    reach: Tensor

    def __init__(self, space: spaces.Box, width: int, zero: bool, log_std: float):
        super().__init__()
        if not np.isfinite([space.low, space.high]).all():
            raise ValueError(f"kind is 'squashed', but {space} has infinite bounds: tanh needs an end to reach for")
        if not (space.low < space.high).all():
            raise ValueError(f"kind is 'squashed', but {space} has a bound where low is not below high")
        self.space, size = space, math.prod(space.shape)
        self.linear = _last(width, 2 * size, zero)
        nn.init.constant_(self.linear.bias[size:], log_std)
        low, high = (torch.as_tensor(bound, dtype=torch.float64) for bound in (space.low, space.high))
        self.register_buffer("centre", ((high + low) / 2).float(), persistent=False)
        self.register_buffer("reach", ((high - low) / 2).float(), persistent=False)

    def distribution(self, features: Tensor, mask: None) -> SquashedGaussian:
        _no_mask(mask, self.space)
        mean, log_std = wide(self.linear(features)).chunk(2, -1)
        return SquashedGaussian(
            _shaped(mean, self.space.shape),
            _shaped(log_std.clamp(LOG_STD_MIN, LOG_STD_MAX), self.space.shape),
            self.space,
            self.centre,
            self.reach,
        )


class _Joint(_Head):
    def __init__(self, keys: Sequence[Any], heads: Sequence[_Head], named: bool):
        super().__init__()
        self.keys, self.heads, self.named = tuple(keys), nn.ModuleList(heads), named

    def distribution(self, features: Tensor, mask: Any) -> Joint:
        masks = [None if mask is None else mask[key] for key in self.keys]
        parts = tuple(
            cast(_Head, head).distribution(features, each) for head, each in zip(self.heads, masks, strict=True)
        )
        return Joint(dict(zip(self.keys, parts, strict=True)) if self.named else parts)


def _head(space: spaces.Space[Any], width: int, kind: str, zero: bool, log_std: float) -> _Head:
    if isinstance(space, (spaces.Dict, spaces.Tuple)):
        heads = [_head(part, width, kind, zero, log_std) for part in _parts(space).values()]
        return _Joint(list(_parts(space)), heads, isinstance(space, spaces.Dict))
    if isinstance(space, (spaces.Discrete, spaces.MultiDiscrete)):
        return _Choices(space, width, zero)
    if isinstance(space, spaces.MultiBinary):
        return _Coins(space, width, zero)
    if not isinstance(space, spaces.Box):
        raise _refused(space, "an output")
    return (_Squashed if kind == "squashed" else _Gaussian)(space, width, zero, log_std)


def _has_box(space: spaces.Space[Any]) -> bool:
    if isinstance(space, (spaces.Dict, spaces.Tuple)):
        return any(map(_has_box, _parts(space).values()))
    return isinstance(space, spaces.Box)


def _no_mask(mask: Any, space: spaces.Space[Any]) -> None:
    if mask is not None:
        raise ValueError(
            f"a mask was given for {space}, expected None: only the choices of (Multi)Discrete can be masked"
        )


def _shaped(row: Tensor, shape: tuple[int, ...]) -> Tensor:
    return row if len(shape) == 1 else row.reshape(*row.shape[:-1], *shape)


# ── What both use ──

_Layer = TypeVar("_Layer", nn.Linear, nn.Conv2d)
_CPU = ("cpu", torch.device("cpu"))
_FLOAT32 = np.dtype(np.float32)
_TORCH = {np.float32: torch.float32, np.uint8: torch.uint8, np.int64: torch.int64}


def _parts(space: spaces.Dict | spaces.Tuple[Any]) -> dict[Any, spaces.Space[Any]]:
    """By name, or by number."""
    return dict(space.spaces if isinstance(space, spaces.Dict) else enumerate(space.spaces))


def _dtype(space: spaces.Space[Any]) -> type[Any]:
    if isinstance(space, spaces.Box):
        return np.uint8 if space.dtype == np.uint8 and is_image(space) else np.float32
    if isinstance(space, (spaces.Discrete, spaces.MultiDiscrete)):
        return np.int64
    if isinstance(space, spaces.MultiBinary):
        return np.float32
    raise _refused(space, "a tensor")


def _refused(space: spaces.Space[Any], what: str) -> TypeError:
    reasons = {
        spaces.Text: "a text has no fixed length; encode it first, and declare a Box of what comes out",
        spaces.Graph: "a graph has no fixed number of nodes; it needs a graph network",
        spaces.Sequence: "a sequence has no fixed length; pad it, and declare a Box with a MultiBinary for the padding",
    }
    reason = next((each for kind, each in reasons.items() if isinstance(space, kind)), "the space is not known here")
    return TypeError(f"{space} cannot be turned into {what}: {reason}")


def _linear(before: int, after: int, gain: float) -> nn.Linear:
    return _orthogonal(nn.Linear(before, after), gain)


def _last(width: int, outputs: int, zero: bool) -> nn.Linear:
    """The last layer of a policy."""
    layer = nn.Linear(width, outputs)
    if not zero:
        return _orthogonal(layer, 0.01)
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


def _orthogonal(layer: _Layer, gain: float) -> _Layer:
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(cast(Tensor, layer.bias))
    return layer
