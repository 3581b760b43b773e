"""The loops of `rldebug.parts.returns` on the CPU: arrays `(T, B)`, C-contiguous, of one float dtype; flags are bool.

Each estimator is one step, written once, and two ways round it. A single env is a chain of dependent multiply-adds,
kept in registers; several envs go row by row, so that the compiler uses SIMD over the envs. Results are written into
the arrays handed over last. No truncation is `truncated=terminated`: terminated wins, and `final_value` is never used.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba.extending import intrinsic
from numpy.typing import NDArray

Floats = NDArray[Any]
Flags = NDArray[np.bool_]
Number = Any  # one element of the arrays, of their dtype

# contract: a*b + c in one rounding. No other fast-math: NaN and infinity must come out as they went in.
_jit = numba.njit(cache=True, fastmath={"contract"}, error_model="numpy")
_inline = numba.njit(cache=True, fastmath={"contract"}, error_model="numpy", forceinline=True)

_NARROW = 24  # with fewer envs, the overlap checks before each SIMD row cost more than the row


def _emit_select(typing: Any, flag: Any, yes: Any, no: Any) -> Any:
    """`yes if flag else no`, both computed: an `if` becomes a branch around the loads, and then the loop is not SIMD.

    What is not chosen does not matter, NaN or not. Multiplying by a flag would let NaN through: 0 · NaN is NaN.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.select(*arguments)

    return yes(flag, yes, no), generate


_select: Any = intrinsic(_emit_select)


@_inline
def _backwards(steps: int) -> NDArray[np.int64]:
    """T−1 … 0, read from memory: over a `range` LLVM hoists the overlap checks of the rows out of the loop over time,
    where the rows written overlap those read, and SIMD is given up."""
    return np.arange(steps - 1, -1, -1)


# ---- GAE ----


@_inline
def _gae_step(
    reward: Number, value: Number, following: Number, carry: Number, terminated: bool, gamma: Number, decay: Number
) -> Number:
    known = reward - value
    return _select(terminated, known, known + gamma * following + decay * carry)


@_inline
def _gae_step_cut(
    reward: Number, value: Number, following: Number, carry: Number, terminated: bool, truncated: bool, final: Number,
    gamma: Number, decay: Number,
) -> Number:  # fmt: skip
    known = reward - value
    over = _select(terminated, known, known + gamma * final)
    return _select(terminated | truncated, over, known + gamma * following + decay * carry)


@_inline
def _gae_rows(
    backwards: Any, reward: Floats, value: Floats, terminated: Flags, truncated: Flags | None, final_value: Any,
    gamma: Number, decay: Number, advantage: Floats, target: Floats,
) -> None:  # fmt: skip
    for t in backwards:
        for b in range(reward.shape[1]):
            r, v, following, carry = reward[t, b], value[t, b], value[t + 1, b], advantage[t + 1, b]
            if truncated is None:
                x = _gae_step(r, v, following, carry, terminated[t, b], gamma, decay)
            else:
                cut, final = truncated[t, b], final_value[t, b]
                x = _gae_step_cut(r, v, following, carry, terminated[t, b], cut, final, gamma, decay)
            advantage[t, b] = x
            target[t, b] = x + v


@_jit
def gae(
    reward: Floats, value: Floats, terminated: Flags, truncated: Flags | None, last_value: Floats, final_value: Any,
    gamma: float, lam: float, advantage: Floats, target: Floats,
) -> None:  # fmt: skip
    """`truncated` and `final_value` may be None here: numba leaves out what reads them, a third of the hottest loop."""
    steps, envs = reward.shape
    number = reward.dtype.type  # a Python float among float32 would make the whole expression float64
    g, decay, zero = number(gamma), number(gamma * lam), number(0.0)
    if envs == 1:
        r, v, over, adv, tgt = reward.ravel(), value.ravel(), terminated.ravel(), advantage.ravel(), target.ravel()
        if truncated is not None:
            cut, final = truncated.ravel(), final_value.ravel()
        following, x = last_value[0], zero
        for t in range(steps - 1, -1, -1):
            now = v[t]
            if truncated is None:
                x = _gae_step(r[t], now, following, x, over[t], g, decay)
            else:
                x = _gae_step_cut(r[t], now, following, x, over[t], cut[t], final[t], g, decay)
            following = now
            adv[t] = x
            tgt[t] = x + now
        return
    t = steps - 1
    for b in range(envs):
        known, ended = reward[t, b] - value[t, b], terminated[t, b]
        x = known + g * last_value[b]
        if truncated is not None:
            x = _select(truncated[t, b], known + g * final_value[t, b], x)
        x = _select(ended, known, x)
        advantage[t, b] = x
        target[t, b] = x + value[t, b]
    if envs < _NARROW:
        rows = range(steps - 2, -1, -1)
        _gae_rows(rows, reward, value, terminated, truncated, final_value, g, decay, advantage, target)
    else:
        order = _backwards(steps - 1)
        _gae_rows(order, reward, value, terminated, truncated, final_value, g, decay, advantage, target)


# ---- TD(λ) ----


@_inline
def _td_lambda_step(
    reward: Number, following: Number, carry: Number, terminated: bool, truncated: bool, final: Number,
    gamma: Number, blend: Number, decay: Number,
) -> Number:  # fmt: skip
    over = _select(terminated, reward, reward + gamma * final)
    return _select(terminated | truncated, over, reward + blend * following + decay * carry)


@_jit
def td_lambda(
    reward: Floats, value: Floats, terminated: Flags, truncated: Flags, last_value: Floats, final_value: Floats,
    gamma: float, lam: float, target: Floats,
) -> None:  # fmt: skip
    steps, envs = reward.shape
    number = reward.dtype.type
    g, blend, decay = number(gamma), number(gamma * (1.0 - lam)), number(gamma * lam)
    if envs == 1:
        r, v, over, cut, final = (
            reward.ravel(),
            value.ravel(),
            terminated.ravel(),
            truncated.ravel(),
            final_value.ravel(),
        )
        tgt = target.ravel()
        following = x = last_value[0]
        for t in range(steps - 1, -1, -1):
            x = _td_lambda_step(r[t], following, x, over[t], cut[t], final[t], g, blend, decay)
            following = v[t]
            tgt[t] = x
        return
    nexts, carry = last_value.copy(), last_value.copy()
    for t in _backwards(steps):
        for b in range(envs):
            x = _td_lambda_step(
                reward[t, b], nexts[b], carry[b], terminated[t, b], truncated[t, b], final_value[t, b], g, blend, decay
            )
            nexts[b] = value[t, b]
            carry[b] = x
            target[t, b] = x


# ---- n-step, and reward-to-go: n without end ----


@_inline
def _return_step(
    reward: Number, carry: Number, terminated: bool, truncated: bool, final: Number, gamma: Number
) -> Number:
    over = _select(terminated, reward, reward + gamma * final)
    return _select(terminated | truncated, over, reward + gamma * carry)


@_jit
def n_step(
    reward: Floats, value: Floats, terminated: Flags, truncated: Flags, last_value: Floats, final_value: Floats,
    gamma: float, n: int, target: Floats,
) -> None:  # fmt: skip
    steps, envs = reward.shape
    g = reward.dtype.type(gamma)
    if envs == 1:
        r, v, over, cut, final = (
            reward.ravel(),
            value.ravel(),
            terminated.ravel(),
            truncated.ravel(),
            final_value.ravel(),
        )
        tgt = target.ravel()
        for t in range(steps):
            x = v[t + n] if t + n < steps else last_value[0]
            for k in range(min(t + n, steps) - 1, t - 1, -1):
                x = _return_step(r[k], x, over[k], cut[k], final[k], g)
            tgt[t] = x
        return
    for t in range(steps):
        for b in range(envs):
            target[t, b] = value[t + n, b] if t + n < steps else last_value[b]
        for k in _backwards(min(n, steps - t)):
            for b in range(envs):
                target[t, b] = _return_step(
                    reward[t + k, b], target[t, b], terminated[t + k, b], truncated[t + k, b], final_value[t + k, b], g
                )


@_jit
def reward_to_go(
    reward: Floats, terminated: Flags, truncated: Flags, last_value: Floats, final_value: Floats,
    gamma: float, target: Floats,
) -> None:  # fmt: skip
    steps, envs = reward.shape
    g = reward.dtype.type(gamma)
    if envs == 1:
        r, over, cut, final = reward.ravel(), terminated.ravel(), truncated.ravel(), final_value.ravel()
        tgt = target.ravel()
        x = last_value[0]
        for t in range(steps - 1, -1, -1):
            x = _return_step(r[t], x, over[t], cut[t], final[t], g)
            tgt[t] = x
        return
    carry = last_value.copy()
    for t in _backwards(steps):
        for b in range(envs):
            x = _return_step(reward[t, b], carry[b], terminated[t, b], truncated[t, b], final_value[t, b], g)
            carry[b] = x
            target[t, b] = x


# ---- V-trace ----


@_inline
def _vtrace_step(
    reward: Number, value: Number, following: Number, carry: Number, terminated: bool, truncated: bool, final: Number,
    rho: Number, c: Number, gamma: Number,
) -> tuple[Number, Number]:  # fmt: skip
    """(v_t − V_t, advantage_t), given carry = v_{t+1} − V_{t+1}. Both ρ and c are those of step t itself."""
    known = reward - value
    over = _select(terminated, known, known + gamma * final)
    going = known + gamma * following
    ended = terminated | truncated
    correction = rho * _select(ended, over, going)
    correction = _select(ended, correction, correction + gamma * c * carry)
    # r + γ v_{t+1} − V_t, with the corrected v_{t+1}, not with V_{t+1}.
    return correction, rho * _select(ended, over, going + gamma * carry)


@_jit
def vtrace(
    reward: Floats, value: Floats, terminated: Flags, truncated: Flags, ratio: Floats, last_value: Floats,
    final_value: Floats, gamma: float, lam: float, rho_clip: float, c_clip: float, target: Floats, advantage: Floats,
) -> None:  # fmt: skip
    steps, envs = reward.shape
    number = reward.dtype.type
    g, trace, rho_top, c_top = number(gamma), number(lam), number(rho_clip), number(c_clip)
    if envs == 1:
        r, v, over, cut, final = (
            reward.ravel(),
            value.ravel(),
            terminated.ravel(),
            truncated.ravel(),
            final_value.ravel(),
        )
        w, tgt, adv = ratio.ravel(), target.ravel(), advantage.ravel()
        following, x = last_value[0], number(0.0)
        for t in range(steps - 1, -1, -1):
            rho, c = _select(w[t] > rho_top, rho_top, w[t]), trace * _select(w[t] > c_top, c_top, w[t])
            now = v[t]
            x, adv[t] = _vtrace_step(r[t], now, following, x, over[t], cut[t], final[t], rho, c, g)
            following = now
            tgt[t] = x + now
        return
    nexts, carry = last_value.copy(), np.zeros_like(last_value)
    for t in _backwards(steps):
        for b in range(envs):
            weight, now = ratio[t, b], value[t, b]
            rho, c = _select(weight > rho_top, rho_top, weight), trace * _select(weight > c_top, c_top, weight)
            x, a = _vtrace_step(
                reward[t, b], now, nexts[b], carry[b], terminated[t, b], truncated[t, b], final_value[t, b], rho, c, g
            )
            nexts[b] = now
            carry[b] = x
            target[t, b] = x + now
            advantage[t, b] = a


# ---- Retrace ----


@_inline
def _retrace_step(
    reward: Number, q: Number, following: Number, carry: Number, terminated: bool, truncated: bool, gamma: Number
) -> Number:
    """target_t − q_t, given carry = c_{t+1} (target_{t+1} − q_{t+1})."""
    known = reward - q
    over = known + gamma * following
    return _select(terminated, known, _select(truncated, over, over + gamma * carry))


@_jit
def retrace(
    reward: Floats, q: Floats, next_value: Floats, terminated: Flags, truncated: Flags, ratio: Floats,
    gamma: float, lam: float, target: Floats,
) -> None:  # fmt: skip
    steps, envs = reward.shape
    number = reward.dtype.type
    g, trace, one = number(gamma), number(lam), number(1.0)
    if envs == 1:
        r, now, following, over, cut = (
            reward.ravel(),
            q.ravel(),
            next_value.ravel(),
            terminated.ravel(),
            truncated.ravel(),
        )
        w, tgt = ratio.ravel(), target.ravel()
        carried = number(0.0)
        for t in range(steps - 1, -1, -1):
            x = _retrace_step(r[t], now[t], following[t], carried, over[t], cut[t], g)
            tgt[t] = x + now[t]
            # Weighed here with the ratio of step t, and used at t−1: Q(s_t, a_t) needs no correction for a_t itself.
            carried = trace * _select(w[t] > one, one, w[t]) * x
        return
    carry = np.zeros(envs, reward.dtype)
    for t in _backwards(steps):
        for b in range(envs):
            x = _retrace_step(reward[t, b], q[t, b], next_value[t, b], carry[b], terminated[t, b], truncated[t, b], g)
            weight = ratio[t, b]
            carry[b] = trace * _select(weight > one, one, weight) * x
            target[t, b] = x + q[t, b]
