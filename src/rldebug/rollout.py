"""What a training loop hands over, shape-checked: Rollout, Transitions, Update — and what the hooks see: Step,
Activations, Episodes, Pace, Device.

Time first: `(T, B, …)`. Never a `done`: always `terminated` and `truncated`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.distributions import Categorical, Distribution, Independent, OneHotCategorical


class HandoverError(ValueError):
    """Raised at the call that handed over something of the wrong shape, dtype or device."""


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
    return _wide(base.logits.detach())


# ── intake ──────────────────────────────────────────────────────────────────────────────────────────────────────────

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
    tensors = _tensors(call, plain, numbers=("clip", "epsilon"))
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
    return _wide(tensor)


def _wide(tensor: Tensor) -> Tensor:
    """Half precision, as autocast gives it, is too coarse for sums of squares."""
    return tensor.float() if tensor.dtype in (torch.bfloat16, torch.float16) else tensor


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
