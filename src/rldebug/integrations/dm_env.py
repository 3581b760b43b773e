"""dm_env: an environment that returns TimeSteps, shown as one of Gymnasium for `rldebug env`.

The last step of an episode is a termination where its discount is 0, and a truncation where it is not: that is the
whole of the translation, and what adapters written by hand get wrong. dm_env itself is not needed: whoever has its
methods is taken for one.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from rldebug.evidence.env_contract import Misfit
from rldebug.parts.make import EnvError

_FIRST, _MID, _LAST = 0, 1, 2
_NAMES = ("FIRST", "MID", "LAST")
_SEEDS = ("seed", "random_state", "random", "rng")  # how such environments are told a seed: when they are made
_PLAYED = 600  # steps in which the protocol is looked at


def is_time_stepped(env: Any) -> bool:
    asked = ("reset", "step", "action_spec", "observation_spec")
    return not isinstance(env, gym.Env) and all(callable(getattr(env, each, None)) for each in asked)


def seed_argument(make: Callable[..., Any]) -> str | None:
    """The argument by which it is told a seed."""
    try:
        parameters = inspect.signature(make).parameters
    except (TypeError, ValueError):
        return None
    return next((each for each in _SEEDS if each in parameters), None)


def as_gymnasium(make: Callable[..., Any], seeded: str | None, env: Any) -> TimeStepped:
    """`env`, made by `make`; made anew where a seed is given. The class has the name of the environment's own."""
    made = type(type(env).__name__, (TimeStepped,), {"__module__": TimeStepped.__module__})
    return made(make, seeded, env)  # type: ignore[no-any-return]


class TimeStepped(gym.Env[Any, Any]):
    metadata = {"render_modes": []}  # noqa: RUF012

    def __init__(self, make: Callable[..., Any], seeded: str | None, env: Any) -> None:
        self.make, self.seeded, self.stepped = make, seeded, env
        self.observation_space = space_of(env.observation_spec(), "observation_spec()")
        self.action_space = space_of(env.action_spec(), "action_spec()")
        if seeded is None:  # nothing can be asked of a seed that cannot be given
            self.spec = gym.envs.registration.EnvSpec("TimeStepped-v0", nondeterministic=True)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        if seed is not None and self.seeded is not None:
            self.stepped.close()
            self.stepped = self.make(**{self.seeded: seed})
        first = self.stepped.reset()
        return (plain(first.observation), {}) if _is_step(first) else first

    def step(self, action: Any) -> Any:
        step = self.stepped.step(action)
        if not _is_step(step):
            return step
        last, over = _kind(step) == _LAST, _number(step.discount) == 0.0
        reward = 0.0 if step.reward is None else step.reward
        return plain(step.observation), _scalar(reward), last and over, last and not over, {}

    def close(self) -> None:
        self.stepped.close()


def protocol(make: Callable[[], Any], seed: int = 0) -> tuple[Misfit, ...]:
    """What is not as dm_env has it: where steps are first, mid and last, and when there is a reward and a discount."""
    env = make()
    try:
        return tuple(_protocol(env, seed))
    except Exception:
        return ()  # a call that raises is told by examine()
    finally:
        env.close()


def _protocol(env: Any, seed: int) -> list[Misfit]:
    space = space_of(env.action_spec(), "action_spec()")
    space.seed(seed)
    found: dict[tuple[str, str], Misfit] = {}

    def note(call: str, seen: str, expected: str, step: int) -> None:
        found.setdefault((call, expected), Misfit(call, seen, expected, call, step, 1, 1))

    step, before, at = env.reset(), None, 0
    for _ in range(_PLAYED):
        if not _is_step(step):
            note("reset()" if before is None else "step()", type(step).__name__, "a TimeStep of dm_env", at)
            break
        now = _kind(step)
        name = _NAMES[now] if now in (_FIRST, _MID, _LAST) else repr(step.step_type)
        if before is None and now != _FIRST:
            note("reset()", f"a step of type {name}", "a step of type FIRST", at)
        if before in (_FIRST, _MID) and now == _FIRST:
            note("step()", "FIRST, and no LAST before it", "LAST at the end of an episode", at)
        if before == _LAST and now != _FIRST:
            note("step() after LAST", f"a step of type {name}", "FIRST: the next episode begins", at)
        if now in (_MID, _LAST) and (step.reward is None or step.discount is None):
            lacking = "reward" if step.reward is None else "discount"
            note("step()", f"{name} without a {lacking}", "reward and discount, but in a FIRST step", at)
        elif now in (_MID, _LAST) and not 0.0 <= _number(step.discount) <= 1.0:
            note("step()", f"a discount of {step.discount}", "a discount between 0 and 1", at)
        elif now == _MID and _number(step.discount) == 0.0:
            note("step()", "a discount of 0 in mid-episode", "0 only at the end, of type LAST", at)
        before, at = now, 0 if now == _FIRST else at + 1
        step = env.step(space.sample())
    return list(found.values())


def space_of(spec: Any, name: str) -> gym.Space[Any]:
    """A spec, or dicts, lists and tuples of them, as a space."""
    if isinstance(spec, Mapping):
        return spaces.Dict({str(key): space_of(each, name) for key, each in spec.items()})
    if isinstance(spec, (list, tuple)) and not hasattr(spec, "shape"):
        return spaces.Tuple([space_of(each, name) for each in spec])
    shape, dtype = getattr(spec, "shape", None), getattr(spec, "dtype", None)
    if shape is None or dtype is None:
        raise EnvError(f"{name} gives a {type(spec).__name__}: expected specs of dm_env.specs")
    if (values := getattr(spec, "num_values", None)) is not None:
        return spaces.Discrete(int(values))
    dtype = np.dtype(dtype)
    if dtype.kind not in "biuf":
        raise EnvError(f"{name} has numbers of type {dtype}: expected floats, integers or booleans")
    if dtype.kind == "b":
        return spaces.MultiBinary(shape)
    ends = (-np.inf, np.inf) if dtype.kind == "f" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    low, high = (getattr(spec, each, None) for each in ("minimum", "maximum"))
    low, high = (ends[i] if each is None else each for i, each in enumerate((low, high)))
    low, high = (np.broadcast_to(np.asarray(each, dtype), shape) for each in (low, high))
    return spaces.Box(low, high, dtype=dtype.type)


def plain(value: Any) -> Any:
    """As Gymnasium has it: dicts and tuples of arrays."""
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return tuple(map(plain, value))
    return value if isinstance(value, np.ndarray) else np.asarray(value)


def _is_step(step: Any) -> bool:
    return all(hasattr(step, each) for each in ("step_type", "reward", "discount", "observation"))


def _kind(step: Any) -> int:
    try:
        return int(step.step_type)
    except (TypeError, ValueError):
        return -1


def _number(value: Any) -> float:
    return float(np.asarray(value, np.float64).reshape(-1)[0]) if value is not None else 1.0


def _scalar(reward: Any) -> Any:
    return float(reward) if isinstance(reward, np.ndarray) and reward.shape == () else reward
