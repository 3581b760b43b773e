"""The arguments of `dbg.rollout`, `dbg.replay` and `dbg.update`: checked, and arranged into what flows."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from types import FrameType
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.distributions import Categorical, Distribution

from rldebug.rollout import Rollout, Transitions, Update, wide


class HandoverError(ValueError):
    """Raised at the call that handed over something of the wrong shape, dtype or device."""


class Receiver:
    """What `rldebug.watch` and `rldebug.attach` return: it is handed over what the program has, and knows what to do
    with it."""

    def rollout(
        self,
        *,
        obs: Any = None,
        action: Any = None,
        reward: Any = None,
        terminated: Any = None,
        truncated: Any = None,
        value: Any = None,
        logp: Any = None,
        epsilon: float | None = None,
    ) -> None:
        """Hand over what acting produced, time-major `(T,)` or `(T, B)`, before the updates that learn from it. With
        `rldebug.attach` it is optional: what can be seen is seen without; values and log-probs are then measured for
        every rollout."""
        self._receive("dbg.rollout(...)", rollout_of, given_in(locals()), sys._getframe(1))

    def replay(
        self,
        *,
        obs: Any = None,
        action: Any = None,
        reward: Any = None,
        next_obs: Any = None,
        terminated: Any = None,
        truncated: Any = None,
    ) -> None:
        """Hand over a batch sampled from replay, `(N, …)`, before the update that learns from it. Optional too."""
        self._receive("dbg.replay(...)", transitions_of, given_in(locals()), sys._getframe(1))

    def _receive(self, call: str, build: Callable[..., Any], given: dict[str, Any], frame: FrameType) -> None:
        """`build` says what is wrong with what was given; `frame` is the user's, of the call."""
        raise NotImplementedError


def given_in(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a method that were handed over."""
    return {name: each for name, each in arguments.items() if name != "self" and each is not None}


_PER_STEP = ("reward", "terminated", "truncated", "value", "logp")
_PER_ROW = ("logp_old", "logp_new", "value", "target", "advantage", "entropy", "collected_at")
_FLAGS = ("terminated", "truncated")
_LOSS_NAMES = {"actor": "policy", "pi": "policy", "pg": "policy", "critic": "value", "vf": "value", "q": "value"}


def rollout_of(call: str, given: Mapping[str, Any]) -> Rollout:
    """Check and arrange the arguments of `dbg.rollout`: `(T,)` becomes `(T, 1)`, a trailing `(…, 1)` is dropped."""
    tensors = _tensors(call, given, numbers=("epsilon",))
    lead = _lead(call, tensors, _PER_STEP, "(T,) or (T, B)", ranks=(1, 2))
    if lead is None:
        for name, tensor in tensors.items():
            if tensor.ndim == 0:
                raise HandoverError(f"{call}: {name} has shape (), expected it to start with (T,) or (T, B)")
        lead = tuple(next(iter(tensors.values())).shape[:1]) if tensors else (0,)
    steps, envs = lead[0], lead[1] if len(lead) == 2 else 1
    arranged: dict[str, Any] = {}
    for name, tensor in tensors.items():
        if name in _PER_STEP:
            arranged[name] = tensor.reshape(steps, envs)
            continue
        batched = tensor.shape[:2] == (steps, envs)
        if not batched and not (envs == 1 and tensor.shape[:1] == (steps,)):
            raise HandoverError(f"{call}: {name} has shape {tuple(tensor.shape)}, expected it to start with {lead}")
        # One env: (T, features) and (T, 1, features) both occur, and only the second has its env axis.
        rest = tensor.shape[2:] if batched and (envs > 1 or len(lead) == 2) else tensor.shape[1:]
        arranged[name] = tensor.reshape(steps, envs, *rest)
    return Rollout(**arranged, epsilon=given.get("epsilon"))


def transitions_of(call: str, given: Mapping[str, Any]) -> Transitions:
    tensors = _tensors(call, given)
    lead = _lead(call, tensors, ("reward", "terminated", "truncated"), "(N,)", ranks=(1,))
    rows = lead[0] if lead else next((each.shape[0] for each in tensors.values() if each.ndim), 0)
    for name, tensor in tensors.items():
        if tensor.ndim == 0 or tensor.shape[0] != rows:
            raise HandoverError(f"{call}: {name} has shape {tuple(tensor.shape)}, expected {rows} rows")
    flat = {name: each.reshape(rows) if name in ("reward", *_FLAGS) else each for name, each in tensors.items()}
    return Transitions(**flat)


def update_of(call: str, given: Mapping[str, Any], **context: Any) -> Update:
    """Check and arrange the arguments of `dbg.update`. Predictions keep their values, never their graph."""
    plain = {name: each for name, each in given.items() if name not in ("loss", "dist", "dist_old", "logits", "kl")}
    tensors = _tensors(call, plain, numbers=("clip", "epsilon", "kl_limit"))
    rows: tuple[str, int, tuple[int, ...]] | None = None
    for name in _PER_ROW:
        tensor = tensors.get(name)
        if tensor is None or (name in ("entropy", "collected_at") and tensor.numel() == 1):
            continue
        if rows is None:
            rows = (name, tensor.numel(), tuple(tensor.shape))
        elif tensor.numel() != rows[1]:
            raise HandoverError(
                f"{call}: {name} has shape {tuple(tensor.shape)} but {rows[0]} has {rows[2]}; "
                f"expected one number per row, {rows[1]} rows"
            )
    arranged: dict[str, Any] = {
        name: each.detach().reshape(-1) if name in _PER_ROW else each.detach() for name, each in tensors.items()
    }
    losses = losses_of(call, given.get("loss"))
    device = next((each.device for each in [*arranged.values(), *losses.values()]), torch.device("cpu"))
    if given.get("kl") is not None:
        arranged["kl"] = _tensor(call, "kl", given["kl"]).detach()
    dist = given.get("dist")
    if dist is None and given.get("logits") is not None:
        logits = _tensor(call, "logits", given["logits"])
        if logits.ndim < 2 or not logits.is_floating_point():
            got = f"{logits.dtype} of shape {tuple(logits.shape)}"
            raise HandoverError(f"{call}: logits is {got}, expected floating-point numbers (rows, actions)")
        dist = Categorical(logits=logits, validate_args=False)
    for name, each in (("dist", dist), ("dist_old", given.get("dist_old"))):
        if each is None:
            continue
        if not isinstance(each, Distribution):
            raise HandoverError(f"{call}: {name} is a {type(each).__name__}, expected a torch.distributions object")
        if rows is not None and rows[1] and each.batch_shape.numel() % rows[1]:
            raise HandoverError(
                f"{call}: {name} has batch_shape {tuple(each.batch_shape)} but {rows[0]} has {rows[2]}; "
                f"expected one distribution per row, {rows[1]} rows"
            )
    bounds = {name: each.to(device) for name, each in context.items() if isinstance(each, Tensor)}
    return Update(
        loss={name: each.detach() for name, each in losses.items()},
        **arranged,
        dist=dist,
        dist_old=given.get("dist_old"),
        clip=given.get("clip"),
        kl_limit=given.get("kl_limit"),
        epsilon=given.get("epsilon"),
        **{**context, **bounds},
    )


def losses_of(call: str, loss: Any) -> dict[str, Tensor]:
    """The losses by name, with their graphs: `{"policy": …, "value": …}`, or a single one called `total`."""
    if loss is None:
        return {}
    named = loss if isinstance(loss, Mapping) else {"total": loss}
    losses = {}
    for name, value in named.items():
        if value is None:
            continue
        try:
            tensor = value if isinstance(value, Tensor) else torch.tensor(float(value))
        except (TypeError, ValueError):
            kind = type(value).__name__
            raise HandoverError(f"{call}: loss {name!r} is a {kind}, expected a scalar tensor or a number") from None
        if tensor.numel() != 1:
            raise HandoverError(
                f"{call}: loss {name!r} has shape {tuple(tensor.shape)}, expected a scalar; add .mean() or .sum()"
            )
        if tensor.is_complex():
            raise HandoverError(f"{call}: loss {name!r} is {tensor.dtype}, expected a real number")
        known = _LOSS_NAMES.get(str(name), str(name))
        losses[str(name) if known in named else known] = tensor.reshape(())  # "actor" beside "policy" stays itself
    return losses


def signature(given: Mapping[str, Any]) -> tuple[Any, ...]:
    """What the checks mostly depend on: two calls with equal names and shapes need only one check."""
    return (*given, *[each.shape if isinstance(each, Tensor) else _length(each) for each in given.values()])


def _length(given: Any) -> Any:
    return len(given) if isinstance(given, (list, tuple)) else getattr(given, "shape", None)


def _tensors(call: str, given: Mapping[str, Any], numbers: Sequence[str] = ()) -> dict[str, Tensor]:
    tensors = {
        name: _tensor(call, name, each) for name, each in given.items() if each is not None and name not in numbers
    }
    for name in numbers:
        if given.get(name) is not None and not isinstance(given[name], Real):
            raise HandoverError(f"{call}: {name} is a {type(given[name]).__name__}, expected a plain number")
    # Host data beside device data is ordinary (numpy rewards, CUDA values): it follows the device data, without a sync.
    devices = {each.device for each in tensors.values() if each.device.type != "cpu"}
    if len(devices) > 1:
        placed = ", ".join(f"{name} on {each.device}" for name, each in tensors.items())
        raise HandoverError(f"{call}: expected all tensors on one device, got {placed}")
    if devices:
        device = devices.pop()
        tensors = {name: each.to(device, non_blocking=True) for name, each in tensors.items()}
    return tensors


def _tensor(call: str, name: str, given: Any) -> Tensor:
    if isinstance(given, Tensor):
        tensor = given.detach()
    elif isinstance(given, Mapping):
        raise HandoverError(f"{call}: {name} is a dict, expected one tensor or array; hand over one of its entries")
    else:
        try:
            if isinstance(given, (list, tuple)) and any(isinstance(each, Tensor) for each in given):
                tensor = torch.stack([torch.as_tensor(each).detach() for each in given])
            else:
                array = np.asarray(given)
                if array.dtype == object:
                    raise TypeError("its elements differ in shape or kind")
                plain = array.flags.writeable and all(stride >= 0 for stride in array.strides)
                tensor = torch.from_numpy(array if plain else array.copy())
        except (TypeError, ValueError, RuntimeError) as error:
            raise HandoverError(
                f"{call}: {name} is a {type(given).__name__} ({error}), expected a tensor or an array of numbers"
            ) from error
    if tensor.is_complex():
        raise HandoverError(f"{call}: {name} is {tensor.dtype}, expected real numbers")
    if name.startswith("logp") and not tensor.is_floating_point():
        raise HandoverError(f"{call}: {name} is {tensor.dtype}, expected floating-point log-probabilities")
    return wide(tensor)


def _lead(
    call: str, tensors: Mapping[str, Tensor], names: Sequence[str], wanted: str, ranks: tuple[int, ...]
) -> tuple[int, ...] | None:
    """The leading shape that all one-number-per-step tensors share, a trailing `(…, 1)` dropped."""
    lead: tuple[str, tuple[int, ...]] | None = None
    for name in names:
        if name not in tensors:
            continue
        shape = tuple(tensors[name].shape)
        if len(shape) == max(ranks) + 1 and shape[-1] == 1:
            shape = shape[:-1]
        if len(shape) not in ranks:
            raise HandoverError(f"{call}: {name} has shape {tuple(tensors[name].shape)}, expected {wanted}")
        if lead is None or shape == (*lead[1], 1):
            lead = (name, shape)
        elif shape != lead[1] and (*shape, 1) != lead[1]:
            raise HandoverError(
                f"{call}: {name} has shape {shape} but {lead[0]} has {lead[1]}; expected the same {wanted}"
            )
    return lead[1] if lead else None
