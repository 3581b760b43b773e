"""What an environment does with odd actions: at the edge of their space, beyond it, after the end; and its pictures."""

from __future__ import annotations

import contextlib
import io
import os
import time
import traceback
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from rldebug.evidence.env_contract import AfterEnd, Failure, Misfit, Picture, Saturation
from rldebug.parts.make import said
from rldebug.probes.examine_handout import differing, frozen, kind
from rldebug.probes.examine_seeding import Env, sample

_EDGE_DIMENSIONS = 6
_STEPS = 8  # for which an action is held: some act through a motor that is slow
_FRAMES = 12
_DISCRETE = 64  # values of a discrete action that are all tried


def edges(env: Env, seed: int, deadline: float) -> tuple[tuple[Failure, ...], int]:
    """Allowed actions at the edge of the space: those that raise, and how many were tried."""
    refused, tried = [], 0
    for action in edge_actions(env.action_space):
        if time.perf_counter() > deadline:
            break
        _, info = env.reset(seed=seed)
        if isinstance(info, dict) and "action_mask" in info:
            break  # not every action is allowed everywhere
        tried += 1
        try:
            env.step(action)
        except (Exception, SystemExit) as error:
            refused.append(failure(f"step({' '.join(str(action).split())[:60]})", 0, error))
    return tuple(refused), tried


def edge_actions(space: gym.Space[Any]) -> Iterator[Any]:
    if isinstance(space, spaces.Discrete):
        for value in range(int(space.start), int(space.start + min(space.n, _DISCRETE))):
            yield np.int64(value)
    elif isinstance(space, spaces.MultiDiscrete):
        low = np.asarray(space.start)
        yield low.astype(space.dtype)
        yield (low + space.nvec - 1).astype(space.dtype)
    elif isinstance(space, spaces.MultiBinary):
        yield np.zeros(space.shape, space.dtype)
        yield np.ones(space.shape, space.dtype)
    elif isinstance(space, spaces.Box) and np.isfinite(space.low).all() and np.isfinite(space.high).all():
        yield space.low.copy()
        yield space.high.copy()
        yield ((space.low.astype(float) + space.high.astype(float)) / 2).astype(space.dtype)


def ranges(env: Env, seed: int, deadline: float) -> dict[str, Any]:
    """What actions beyond the bounds do, and from where on within the bounds nothing more happens."""
    space = env.action_space

    def outcome(action: Any) -> list[Any]:
        env.reset(seed=seed)
        told = []
        for _ in range(_STEPS):
            obs, reward, terminated, truncated, _ = env.step(frozen(action))
            told.append((frozen(obs), float(reward)))
            if terminated or truncated:
                break
        return told

    def same(one: list[Any], other: list[Any], *, rewards: bool = True) -> bool:
        return len(one) == len(other) and all(
            differing(a[0], b[0], exact=True) is None and (not rewards or a[1] == b[1])
            for a, b in zip(one, other, strict=True)
        )

    if isinstance(space, spaces.Discrete):
        beyond = int(space.start + space.n)
        try:
            effect = outcome(beyond)
        except (Exception, SystemExit):  # refusing is the right answer
            return {"accepted_of": 1}
        known = any(same(effect, outcome(int(action))) for action in edge_actions(space))
        return {"accepted": () if known else (str(beyond),), "accepted_of": 1}
    if not (isinstance(space, spaces.Box) and space.dtype.kind == "f" and len(space.shape) == 1):
        return {}
    if not (np.isfinite(space.low).all() and np.isfinite(space.high).all()):
        return {}
    low, high = space.low.astype(float), space.high.astype(float)
    middle, half = (low + high) / 2, (high - low) / 2
    accepted, saturated, tried = [], [], 0
    for i in range(min(len(low), _EDGE_DIMENSIONS)):
        if time.perf_counter() > deadline:
            break

        def at(share: float, i: int = i) -> list[Any]:
            action = middle.copy()
            action[i] += share * half[i]
            return outcome(action.astype(space.dtype))

        tried += 1
        none, least, most = at(0.0), at(-1.0), at(1.0)
        if same(least, none) or same(most, none):
            continue
        shares = [each for each in (0.1, 0.25, 0.5) if same(at(each), most) and same(at(-each), least)]
        if shares:
            saturated.append(Saturation(f"action[{i}]", float(low[i]), float(high[i]), shares[0]))
        with contextlib.suppress(Exception, SystemExit):  # refusing is the right answer
            if not same(at(3.0), most, rewards=False) and not same(at(-3.0), least, rewards=False):
                accepted.append(f"action[{i}] = {middle[i] + 3 * half[i]:.4g}")
    return {"saturated": tuple(saturated), "accepted": tuple(accepted), "accepted_of": tried}


def after_end(env: Env, seed: int, deadline: float) -> AfterEnd | None:
    tried = raised = went_on = rewarded = 0
    env.action_space.seed(seed)
    for episode in range(20):
        if tried == 3 or time.perf_counter() > deadline:
            break
        _, info = env.reset(seed=seed + episode)
        terminated = truncated = False
        for _ in range(1000):
            if terminated or truncated or time.perf_counter() > deadline:
                break
            _, _, terminated, truncated, info = env.step(sample(env.action_space, info))
        if not terminated:
            continue
        tried += 1
        try:
            _, reward, over, cut, _ = env.step(sample(env.action_space, info))
        except (Exception, SystemExit):
            raised += 1
            continue
        if not over and not cut:
            went_on += 1
            rewarded += float(reward) > 0
    return AfterEnd(tried, raised, went_on, rewarded) if tried else None


def needs_screen(env: Env) -> bool:
    """MuJoCo draws with OpenGL: without a screen that ends the process on some machines, with no exception to catch."""
    screen = any(os.environ.get(each) for each in ("DISPLAY", "WAYLAND_DISPLAY", "MUJOCO_GL"))
    return hasattr(env.unwrapped, "mujoco_renderer") and not screen


def picture(env: Env, mode: str, seed: int, deadline: float) -> Picture:
    obs, info = env.reset(seed=seed)
    first_obs, frames, obs_different = frozen(obs), [], 0
    if env.render_mode != mode:
        return Picture(mode, misfit=Misfit("render_mode", repr(env.render_mode), repr(mode), "make()", 0, 1, 1))
    env.action_space.seed(seed)
    for step in range(_FRAMES):
        try:
            frame = env.render()
        except (Exception, SystemExit) as error:
            return Picture(mode, failure=failure("render()", step, error))
        wrong = _wrong_picture(frame, mode)
        if wrong:
            return Picture(mode, misfit=Misfit("render()", *wrong, "step()" if step else "reset()", step, 1, 1))
        frames.append(frozen(frame))
        if time.perf_counter() > deadline:
            break
        for _ in range(3):
            obs, _, terminated, truncated, info = env.step(sample(env.action_space, info))
            obs_different += differing(first_obs, obs, exact=True) is not None
            if terminated or truncated:
                obs, info = env.reset()
    different = sum(differing(frames[0], each, exact=True) is not None for each in frames[1:])
    return Picture(mode, frames=len(frames), different=different, obs_different=obs_different)


def _wrong_picture(frame: Any, mode: str) -> tuple[str, str] | None:
    if mode == "ansi":
        text = isinstance(frame, (str, io.StringIO))
        return None if text else (kind(frame), "a str")
    expected = "an array (height, width, 3) of uint8"
    if not isinstance(frame, np.ndarray):
        return kind(frame), expected
    if frame.ndim != 3 or frame.shape[2] not in (3, 4) or frame.dtype != np.uint8:
        return f"an array {frame.shape} of {frame.dtype}", expected
    return None


def failure(call: str, steps: int, error: BaseException) -> Failure:
    """An exception as a fact, with the last line of it that is the user's."""
    frames = [each for each in traceback.extract_tb(error.__traceback__) if not each.filename.startswith("<")]
    ours = os.path.dirname(__file__)
    theirs = [each for each in frames if ours not in each.filename and "site-packages" not in each.filename]
    last = theirs[-1] if theirs else None
    missing = isinstance(error, (ImportError, gym.error.DependencyNotInstalled))
    return Failure(
        call=call,
        steps=steps,
        kind=type(error).__name__,
        said=said(error),
        file=os.path.relpath(last.filename) if last else None,
        line=last.lineno if last else None,
        installation=missing,
    )
