"""Returns, advantages and value targets: GAE, TD(λ), n-step, reward-to-go, V-trace, Retrace.

Arrays are numpy or torch, all the same kind, time-major `(T, B)`, or `(T,)` for one env. Results have the kind, shape,
dtype and device of `value` (`q`, or `reward` where there is none), and never a graph. Half precision is computed in
float32.

    value[t]      V(obs_t), the observation that step t acted on
    last_value    V(obs_T), the observation after the last step: `(B,)`, or a number
    final_value   V(final_obs): read only where `truncated`, and not terminated; anything, NaN too, may stand elsewhere
    terminated, truncated    bool, or numbers, of which everything but 0 counts as True

An episode that is terminated is worth nothing from there on, one that is truncated what `final_value` says, whatever
comes after it in the same column; terminated wins where both are set. CPU: numba kernels. Other devices: a scan over
time in log2(T) rounds, without waiting for the device.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from numbers import Integral, Real
from types import ModuleType
from typing import Any, Generic, Literal, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Array = TypeVar("Array", NDArray[Any], Tensor)

_ARRAY = np.ndarray
_PLAIN: tuple[Literal["E", "C", "A", "W"], ...] = ("E", "C", "A", "W")  # of no subclass, contiguous, aligned, writeable
_BOOL, _SINGLE, _DOUBLE = np.dtype(np.bool_), np.dtype(np.float32), np.dtype(np.float64)


def gae(
    reward: Array,
    value: Array,
    terminated: Array,
    truncated: Array | None = None,
    *,
    last_value: Array | float,
    final_value: Array | None = None,
    gamma: float,
    lam: float,
) -> tuple[Array, Array]:
    """Generalised advantage estimation: `(advantage, target)`, target = advantage + value (Schulman et al. 2016)."""
    gamma, lam = _discounts("gae", gamma, lam)
    if _as_kernels_read_it(reward, value, terminated, truncated, last_value, final_value):
        advantage: Any = np.empty(value.shape, value.dtype)
        target: Any = np.empty(value.shape, value.dtype)
        _kernels().gae(reward, value, terminated, truncated, last_value, final_value, gamma, lam, advantage, target)
        return advantage, target
    given = _arrange(
        "gae", {"value": value, "reward": reward}, terminated, truncated, last_value=last_value, final_value=final_value
    )
    if given.scanned:
        advantage = _gae_scan(given, gamma, lam)
        return given.back(advantage), given.back(advantage + given.floats[0])
    advantage, target = given.empty(), given.empty()
    v, r = given.floats
    _kernels().gae(r, v, *given.ends, gamma, lam, advantage, target)
    return given.back(advantage), given.back(target)


def td_lambda(
    reward: Array,
    value: Array,
    terminated: Array,
    truncated: Array | None = None,
    *,
    last_value: Array | float,
    final_value: Array | None = None,
    gamma: float,
    lam: float,
) -> Array:
    """The λ-return: r + γ((1 − λ) V_{t+1} + λ target_{t+1}). Equal to the target of `gae`."""
    gamma, lam = _discounts("td_lambda", gamma, lam)
    given = _arrange(
        "td_lambda",
        {"value": value, "reward": reward},
        terminated,
        truncated,
        last_value=last_value,
        final_value=final_value,
    )
    v, r = given.floats
    if given.scanned:
        return given.back(_gae_scan(given, gamma, lam) + v)
    target = given.empty()
    _kernels().td_lambda(r, v, *given.ends, gamma, lam, target)
    return given.back(target)


def n_step(
    reward: Array,
    value: Array,
    terminated: Array,
    truncated: Array | None = None,
    *,
    last_value: Array | float,
    final_value: Array | None = None,
    gamma: float,
    n: int,
) -> Array:
    """The sum of up to n discounted rewards, and the value where they stop.

    Fewer than n where the episode ends or the rollout does: the value is then that of the end.
    """
    gamma, _ = _discounts("n_step", gamma)
    if not isinstance(n, Integral) or isinstance(n, bool) or n < 1:
        raise ValueError(f"n_step: n is {n!r}, expected a whole number of steps, 1 or more")
    given = _arrange(
        "n_step",
        {"value": value, "reward": reward},
        terminated,
        truncated,
        last_value=last_value,
        final_value=final_value,
    )
    steps = min(int(n), given.floats[0].shape[0])
    if given.scanned:
        return given.back(_n_step_scan(given, gamma, steps))
    v, r = given.floats
    target = given.empty()
    _kernels().n_step(r, v, *given.ends, gamma, steps, target)
    return given.back(target)


def reward_to_go(
    reward: Array,
    terminated: Array,
    truncated: Array | None = None,
    *,
    last_value: Array | float | None = None,
    final_value: Array | None = None,
    gamma: float,
) -> Array:
    """The discounted sum of the rewards from each step to the end of its episode.

    Without `last_value` an episode that the rollout breaks off counts as if nothing came after: right only where the
    rollout stops at the end of an episode.
    """
    gamma, _ = _discounts("reward_to_go", gamma)
    bootstrap = 0.0 if last_value is None else last_value
    given = _arrange(
        "reward_to_go", {"reward": reward}, terminated, truncated, last_value=bootstrap, final_value=final_value
    )
    if given.scanned:
        return given.back(_reward_to_go_scan(given, gamma))
    target = given.empty()
    _kernels().reward_to_go(*given.floats, *given.ends, gamma, target)
    return given.back(target)


def vtrace(
    reward: Array,
    value: Array,
    terminated: Array,
    truncated: Array | None = None,
    *,
    log_ratio: Array,
    last_value: Array | float,
    final_value: Array | None = None,
    gamma: float,
    lam: float = 1.0,
    rho_clip: float = 1.0,
    c_clip: float = 1.0,
) -> tuple[Array, Array]:
    """V-trace: `(target, advantage)` for a policy other than the one that acted (Espeholt et al. 2018).

    `log_ratio[t]` is log π(a_t|s_t) − log μ(a_t|s_t), μ being the policy that acted. ρ = min(rho_clip, ratio) weighs
    the TD error of a step, and its advantage ρ (r + γ target_{t+1} − value); c = lam · min(c_clip, ratio) weighs what
    comes from later steps.
    """
    gamma, lam = _discounts("vtrace", gamma, lam)
    for name, clip in (("rho_clip", rho_clip), ("c_clip", c_clip)):
        if not isinstance(clip, Real) or not float(clip) > 0.0:
            raise ValueError(f"vtrace: {name} is {clip!r}, expected a plain number above 0")
    given = _arrange(
        "vtrace",
        {"value": value, "reward": reward, "log_ratio": log_ratio},
        terminated,
        truncated,
        last_value=last_value,
        final_value=final_value,
    )
    if given.scanned:
        target, advantage = _vtrace_scan(given, gamma, lam, rho_clip, c_clip)
        return given.back(target), given.back(advantage)
    v, r, _ = given.floats
    over, cut, last, final = given.ends
    target, advantage = given.empty(), given.empty()
    clips = float(rho_clip), float(c_clip)
    _kernels().vtrace(r, v, over, cut, given.ratio, last, final, gamma, lam, *clips, target, advantage)
    return given.back(target), given.back(advantage)


def retrace(
    reward: Array,
    q: Array,
    next_value: Array,
    terminated: Array,
    truncated: Array | None = None,
    *,
    log_ratio: Array,
    gamma: float,
    lam: float = 1.0,
) -> Array:
    """Retrace(λ): the target of Q for a policy other than the one that acted (Munos et al. 2016).

    `q[t]` is Q(s_t, a_t); `next_value[t]` is E_π Q(s_{t+1}, ·), where truncated that of the observation the episode was
    cut off at; `log_ratio[t]` is log π(a_t|s_t) − log μ(a_t|s_t). c = lam · min(1, ratio).
    """
    gamma, lam = _discounts("retrace", gamma, lam)
    floats = {"q": q, "reward": reward, "next_value": next_value, "log_ratio": log_ratio}
    given = _arrange("retrace", floats, terminated, truncated, bootstraps=False)
    if given.scanned:
        return given.back(_retrace_scan(given, gamma, lam))
    now, r, following, _ = given.floats
    target = given.empty()
    over, cut = given.terminated, given.truncated
    _kernels().retrace(r, now, following, over, cut, given.ratio, gamma, lam, target)
    return given.back(target)


# ---- what is handed over: checked, and arranged for the kernels and the scans ----


@dataclass(frozen=True)
class _Given(Generic[Array]):
    """Everything `(T, B)` and of one float dtype: numpy for the kernels, torch for the scans. Log-ratios come last."""

    floats: list[Any]
    terminated: Any
    truncated: Any  # terminated itself where there was none: terminated wins
    last_value: Any  # (B,)
    final_value: Any
    like: Array  # what results must look like

    @property
    def scanned(self) -> bool:
        return isinstance(self.floats[0], Tensor)

    @property
    def ends(self) -> tuple[Any, Any, Any, Any]:
        return self.terminated, self.truncated, self.last_value, self.final_value

    @property
    def ended(self) -> Tensor:
        ended: Tensor = self.terminated | self.truncated
        return ended

    @property
    def ratio(self) -> Any:
        if self.scanned:
            return self.floats[-1].exp()
        with np.errstate(over="ignore"):  # infinity is right here: it is clipped
            return np.exp(self.floats[-1])  # numpy's exp is SIMD, the one that numba calls is not

    def empty(self) -> Any:
        return np.empty_like(self.floats[0])

    def back(self, result: Any) -> Array:
        if isinstance(self.like, Tensor) and not isinstance(result, Tensor):
            result = torch.from_numpy(result)
        if len(self.like.shape) == 1:
            result = result[:, 0]
        dtype: Any = self.like.dtype
        same: Any = result.to(dtype) if isinstance(result, Tensor) else result.astype(dtype, copy=False)
        back: Array = same
        return back


@cache
def _kernels() -> ModuleType:
    from rldebug.parts.kernels import returns  # numba: not everywhere, and slow to import

    return returns


def _as_kernels_read_it(
    reward: Any, value: Any, terminated: Any, truncated: Any, last_value: Any, final_value: Any
) -> bool:
    """Whether nothing is left to check, to convert or to explain. Takes half a microsecond, `_arrange` twenty."""
    array, flag = _ARRAY, _BOOL
    if not type(value) is type(reward) is type(terminated) is type(last_value) is array:
        return False
    shape, dtype = value.shape, value.dtype
    # carray: contiguous, aligned and writeable. For anything else numba would compile kernels of their own.
    if not (
        (dtype is _SINGLE or dtype is _DOUBLE)
        and reward.dtype is dtype
        and last_value.dtype is dtype
        and terminated.dtype is flag
        and reward.shape == shape
        and terminated.shape == shape
        and len(shape) == 2
        and last_value.shape == shape[1:]
        and value.size
        and value.flags.carray
        and reward.flags.carray
        and terminated.flags.carray
        and last_value.flags.carray
    ):
        return False
    if truncated is None:
        return final_value is None
    return bool(
        type(truncated) is type(final_value) is array
        and truncated.dtype is flag
        and final_value.dtype is dtype
        and truncated.shape == shape
        and final_value.shape == shape
        and truncated.flags.carray
        and final_value.flags.carray
    )


def _arrange(
    call: str,
    floats: Mapping[str, Array],
    terminated: Any,
    truncated: Any,
    *,
    last_value: Any = None,
    final_value: Any = None,
    bootstraps: bool = True,
) -> _Given[Array]:
    """Check everything against the first of `floats`, which is what results will look like."""
    lead = next(iter(floats))
    like: Any = floats[lead]
    if bootstraps and truncated is not None and final_value is None:
        raise ValueError(
            f"{call}: truncated without final_value: an episode that was cut off would have gone on, and what it was "
            "worth there is V(final_obs). value[t + 1] is not: it belongs to the next episode. Pass final_value, which "
            "is read only where truncated; or, to count nothing beyond the cut, terminated | truncated as terminated"
        )
    if truncated is None and final_value is not None:
        raise ValueError(f"{call}: final_value without truncated, expected both: it is read only where truncated")
    steps = {**floats, "terminated": terminated, "truncated": truncated, "final_value": final_value}
    steps = {name: each for name, each in steps.items() if each is not None or name in ("terminated", *floats)}
    for name, each in steps.items():
        _check_kind(call, name, each, lead, like)
    if len(like.shape) not in (1, 2) or 0 in like.shape:
        raise ValueError(
            f"{call}: {lead} has shape {tuple(like.shape)}, expected (T, B) or (T,), and at least one step"
        )
    for name, each in steps.items():
        if each.shape != like.shape:
            hint = "; drop the last axis" if tuple(each.shape) == (*like.shape, 1) else ""
            shapes = f"{name} has shape {tuple(each.shape)} and {lead} {tuple(like.shape)}"
            raise ValueError(f"{call}: {shapes}, expected the same{hint}")
    shape = (like.shape[0], 1) if len(like.shape) == 1 else like.shape
    arranged = {name: _floats(call, name, each, like).reshape(shape) for name, each in floats.items()}
    over = _flags(call, "terminated", terminated).reshape(shape)
    cut = over if truncated is None else _flags(call, "truncated", truncated).reshape(shape)
    last, final = None, arranged[lead]
    if bootstraps:
        last = _last_value(call, last_value, lead, like, final)
    if final_value is not None:
        final = _floats(call, "final_value", final_value, like).reshape(shape)
    return _Given(list(arranged.values()), over, cut, last, final, like)


def _on_host(tensor: Tensor) -> bool:
    """Whether the kernels can read it: what they are given shares its memory."""
    return tensor.device.type == "cpu"


def _check_kind(call: str, name: str, given: Any, lead: str, like: Any) -> None:
    if not isinstance(given, (np.ndarray, Tensor)):
        expected = "a numpy array or a torch tensor" + (", or a number" if name == "last_value" else "")
        raise TypeError(f"{call}: {name} is a {type(given).__name__}, expected {expected}")
    if isinstance(given, Tensor) != isinstance(like, Tensor):
        kinds = f"{name} is a {_kind(given)} and {lead} a {_kind(like)}"
        raise TypeError(f"{call}: {kinds}, expected all of one kind")
    if not isinstance(given, Tensor):
        return
    if given.requires_grad:
        raise ValueError(
            f"{call}: {name} carries a graph: what is computed from it would too, and a loss would be differentiated "
            f"through its own target. Pass {name}.detach(), or compute it under torch.no_grad()"
        )
    if given.device != like.device:
        raise ValueError(f"{call}: {name} is on {given.device} and {lead} on {like.device}, expected one device")


def _kind(given: Any) -> str:
    return "torch tensor" if isinstance(given, Tensor) else "numpy array"


def _floats(call: str, name: str, given: Any, like: Any) -> Any:
    """In the dtype to compute in: float64 where results are, else float32."""
    if isinstance(given, Tensor):
        known = given.is_floating_point() if given is like else not given.is_complex()
    else:
        known = given.dtype.kind in ("f" if given is like else "fiub") and given.dtype.itemsize <= 8
    if not known:
        expected = "floating-point numbers, since results have its dtype" if given is like else "real numbers"
        raise ValueError(f"{call}: {name} is {given.dtype}, expected {expected}")
    if not isinstance(given, Tensor):
        return np.require(given, _DOUBLE if like.dtype.itemsize == 8 else _SINGLE, _PLAIN)
    wide = given.to(torch.float64 if like.dtype == torch.float64 else torch.float32)
    return wide.contiguous().numpy() if _on_host(wide) else wide


def _flags(call: str, name: str, given: Any) -> Any:
    if isinstance(given, Tensor):
        flags = given.bool()
        return flags.contiguous().numpy() if _on_host(flags) else flags
    if given.dtype.kind not in "biuf":
        raise ValueError(f"{call}: {name} is {given.dtype}, expected bool, or numbers that are 0 or 1")
    return np.require(given if given.dtype == _BOOL else given != 0, _BOOL, _PLAIN)


def _last_value(call: str, given: Any, lead: str, like: Any, arranged: Any) -> Any:
    envs = arranged.shape[1]
    if isinstance(given, Real):
        number = float(given)
        on_host = isinstance(arranged, np.ndarray)
        return np.full(envs, number, arranged.dtype) if on_host else arranged.new_full((envs,), number)
    _check_kind(call, "last_value", given, lead, like)
    expected: tuple[tuple[int, ...], ...] = ((), (1,)) if len(like.shape) == 1 else ((envs,),)
    if tuple(given.shape) not in expected:
        wanted = " or ".join(str(each) for each in expected)
        raise ValueError(f"{call}: last_value has shape {tuple(given.shape)}, expected {wanted}: one value per env")
    return _floats(call, "last_value", given, like).reshape(envs)


def _discounts(call: str, gamma: float, lam: float = 1.0) -> tuple[float, float]:
    """As Python floats: numba would compile another kernel for an int, and numpy's own take tensors for arrays."""
    if type(gamma) is type(lam) is float and 0.0 <= gamma <= 1.0 and 0.0 <= lam <= 1.0:
        return gamma, lam
    for name, each in (("gamma", gamma), ("lam", lam)):
        # A tensor is refused: to read it is to wait for the device.
        if not isinstance(each, Real):
            raise TypeError(f"{call}: {name} is a {type(each).__name__}, expected a plain number")
        if not 0.0 <= each <= 1.0:
            raise ValueError(f"{call}: {name} is {each}, expected a number from 0 to 1")
    return float(gamma), float(lam)


# ---- other devices: torch operations only, and none that waits for the device ----


def _next_value(given: _Given[Any], value: Tensor) -> Tensor:
    """What comes after each step is worth, `(T, B)`. Chosen, not multiplied by a flag: 0 · NaN is NaN."""
    following = torch.cat([value[1:], given.last_value[None]])
    return torch.where(given.truncated, given.final_value, following).masked_fill(given.terminated, 0.0)


def _gae_scan(given: _Given[Any], gamma: float, lam: float) -> Tensor:
    value, reward = given.floats
    return _scan(reward + gamma * _next_value(given, value) - value, gamma * lam, given.ended)


def _reward_to_go_scan(given: _Given[Any], gamma: float) -> Tensor:
    reward = given.floats[-1]
    return _scan(_closed(given, reward, gamma), gamma, given.ended)


def _closed(given: _Given[Any], reward: Tensor, gamma: float) -> Tensor:
    """The rewards, and with them what lies beyond the last one of an episode or of the rollout."""
    ended = given.ended
    ended[-1].fill_(True)
    return torch.where(ended, reward + gamma * _next_value(given, reward), reward)


def _n_step_scan(given: _Given[Any], gamma: float, n: int) -> Tensor:
    """n ≤ T steps are put together from spans of 1, 2, 4 … steps, those in the binary notation of n."""
    value, reward = given.floats
    length = len(reward)
    span, reach, open_ = _closed(given, reward, gamma), 1, ~given.ended[:-1]
    target, covered, going = span, 0, open_
    while True:
        if n & reach:
            if covered:
                target = _join(target, gamma**covered, span, going, covered)
                going = going[: length - covered - reach] & open_[covered:]
            else:
                target, going = span, open_
            covered += reach
        if covered == n:
            return _join(target, gamma**n, value, going, n)
        span = _join(span, gamma**reach, span, open_, reach)
        open_ = open_[: length - 2 * reach] & open_[reach:]
        reach *= 2


def _vtrace_scan(given: _Given[Any], gamma: float, lam: float, rho_clip: float, c_clip: float) -> tuple[Tensor, Tensor]:
    value, reward, _ = given.floats
    ratio = given.ratio
    rho, c = ratio.clamp(max=float(rho_clip)), lam * ratio.clamp(max=float(c_clip))
    delta = rho * (reward + gamma * _next_value(given, value) - value)
    # Both ρ and c are those of step t itself: c_t weighs what comes back from t+1.
    target = value + _scan(delta, gamma * c, given.ended)
    # r + γ v_{t+1} − V_t, with the corrected v_{t+1}, not with V_{t+1}.
    return target, rho * (reward + gamma * _next_value(given, target) - value)


def _retrace_scan(given: _Given[Any], gamma: float, lam: float) -> Tensor:
    q, reward, next_value, _ = given.floats
    delta = reward + gamma * next_value.masked_fill(given.terminated, 0.0) - q
    # c of step t+1 weighs what comes back from t+1: Q(s_t, a_t) needs no correction for a_t itself.
    c = lam * given.ratio.clamp(max=1.0)
    correction = _scan(delta, gamma * c.roll(-1, 0), given.ended)
    target: Tensor = q + correction
    return target


def _scan(a: Tensor, b: Tensor | float, ended: Tensor) -> Tensor:
    """x_t = a_t + b_t x_{t+1}, and x_t = a_t at the end of an episode and of the rollout.

    By doubling: where x_t covers the k steps from t on, adding b_t … b_{t+k−1} times that of t+k makes it cover 2k.
    """
    length, reach = len(a), 1
    open_ = ~ended[:-1]  # whether t+reach is of the same episode as t
    factor = b[:-1] if isinstance(b, Tensor) else b
    while reach < length:
        a = _join(a, factor, a, open_, reach)
        rest = max(length - 2 * reach, 0)
        open_ = open_[:rest] & open_[reach:]
        factor = factor[:rest] * factor[reach:] if isinstance(factor, Tensor) else factor * factor
        reach *= 2
    return a


def _join(near: Tensor, factor: Tensor | float, far: Tensor, open_: Tensor, reach: int) -> Tensor:
    """near_t + factor · far_{t+reach} where `open_`, near_t elsewhere: chosen, so that no NaN crosses an ending."""
    head, tail = near[: len(near) - reach], near[len(near) - reach :]
    ahead = far[reach:]
    if isinstance(factor, Tensor):
        joined = torch.addcmul(head, factor, ahead)
    else:
        joined = torch.add(head, ahead, alpha=factor)
    return torch.cat([torch.where(open_, joined, head), tail])
