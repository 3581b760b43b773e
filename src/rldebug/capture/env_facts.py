"""What an environment says of itself: name, spaces, wrappers, time limit. Attributes are read, nothing is called."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from rldebug.capture.place import is_users, shown

_DEEP = 64  # wrappers
_CHANGES = ("observation", "observations", "vector_observation", "single_observation")
_DRAWS = {"random", "np_random", "rng", "normal", "uniform", "integers", "randint", "rand", "randn", "choice", "sample"}
_WIDE = 64  # elements of an action whose bounds are told one by one
_LANES = 1024  # environments of a vector that are counted


def attribute(thing: Any, name: str) -> Any:
    """As it lies in the object or its class. A property or `__getattr__` may do anything, such as ask a worker."""
    own = getattr(thing, "__dict__", None)
    if isinstance(own, dict) and name in own:
        return own[name]
    value = lying_in(type(thing), name)
    return None if hasattr(value, "__get__") else value


def lying_in(cls: type, name: str) -> Any:
    """An attribute of a class or its bases, as it lies there: a function, a property, a staticmethod."""
    return next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)


def chain(env: Any) -> Iterator[Any]:
    """The environment, what it wraps, and so on inwards; in a vector environment, its first sub-environment."""
    for _ in range(_DEEP):
        yield env
        inner = next((found for name in ("env", "venv", "_env") if (found := attribute(env, name)) is not None), None)
        if inner is None:
            envs = attribute(env, "envs")
            inner = envs[0] if isinstance(envs, (list, tuple)) and envs else None
        if inner is None or isinstance(inner, type) or lying_in(type(inner), "step") is None:
            return  # a simulator's handle, or a name
        env = inner


def unwrapped(env: Any) -> Any:
    """The innermost environment, which stays the same when the program wraps it anew."""
    if not isinstance(lying_in(type(env), "unwrapped"), property):
        return env
    try:
        inner = env.unwrapped
    except Exception:
        return env
    # Not None, not a simulator's handle, not something made for the occasion.
    return inner if type(inner).__weakrefoffset__ and env.unwrapped is inner else env


def innermost(env: Any) -> Any:
    return list(chain(env))[-1]


def autoreset_of(env: Any) -> str:
    for each in chain(env):
        names = {base.__name__ for base in type(each).__mro__}
        metadata = attribute(each, "metadata")
        mode = metadata.get("autoreset_mode") if isinstance(metadata, dict) else None
        if "VectorEnv" in names and mode is not None:
            name = str(getattr(mode, "value", mode)).lower().replace("_", "").replace("-", "")
            return {"samestep": "same-step", "disabled": "disabled"}.get(name, "next-step")
        if "Autoreset" in names:
            return "next-step"
        if "AutoResetWrapper" in names:  # of Gymnasium before 1.0
            return "same-step"
    if any(base.__name__ == "VectorEnv" for base in type(env).__mro__):
        version = str(getattr(sys.modules.get("gymnasium"), "__version__", "0"))
        return "same-step" if version.startswith("0.") else "next-step"
    return "disabled"


def declares_autoreset(env: Any) -> bool:
    """Whether it says itself how it restarts; where not, Gymnasium's own way is taken for granted."""
    told = (attribute(each, "metadata") for each in chain(env))
    return any(isinstance(each, dict) and each.get("autoreset_mode") is not None for each in told)


def facts_of(env: Any, created: tuple[str, int] | None = None) -> dict[str, Any]:
    layers = list(chain(env))
    spec = next((found for each in reversed(layers) if (found := _spec(each)) is not None), None)
    name = getattr(spec, "id", None) or type(layers[-1]).__name__
    registered = getattr(sys.modules.get("gymnasium"), "registry", {}).get(name)
    visible = not any(type(each).__name__ in ("AsyncVectorEnv", "SubprocVecEnv") for each in layers)
    limits = [attribute(each, "_max_episode_steps") for each in layers if "TimeLimit" in _names(each)]
    limit = min((int(each) for each in limits if isinstance(each, (int, np.integer))), default=None)
    return {
        "id": str(name),
        "class": type(layers[-1]).__name__,
        "wrappers": [type(each).__name__ for each in layers[:-1]],
        "reworks": [type(each).__name__ for each in layers[:-1] if _reworks(each)],
        **observation_facts(_space(layers, "observation_space")),
        **action_facts(_space(layers, "action_space")),
        # In a worker process the wrapper is out of sight: what the environment was registered with is told instead.
        "time_limit": limit if visible or limit is not None else getattr(spec, "max_episode_steps", None),
        "registered_limit": getattr(registered, "max_episode_steps", None),  # stays when the wrapper is taken off
        "instances": _instances(layers),
        "worlds": _worlds(layers),  # the same in two streams: one is played inside of the other
        "norm_reward": _norm_reward(layers),
        "created": None if created is None else list(created),
        "defined": _defined(type(layers[-1])),
    }


def seeded_by_chance(env: Any) -> bool:
    """Whether the generator of a Gymnasium environment was made with a seed from the operating system, of 128 bits."""
    seed = attribute(innermost(env), "_np_random_seed")
    return isinstance(seed, int) and seed > 1 << 64


def _instances(layers: list[Any]) -> int | None:
    """How many environments the lanes of a vector are: fewer than lanes where one object is in several of them."""
    for each in layers:
        envs = attribute(each, "envs")
        if isinstance(envs, (list, tuple)) and 0 < len(envs) <= _LANES:
            return len({id(next((part for part in chain(lane) if not library(part)), lane)) for lane in envs})
    return None


def _worlds(layers: list[Any]) -> list[int]:
    """Which objects the innermost environments are, for as long as they live."""
    for each in layers:
        envs = attribute(each, "envs")
        if isinstance(envs, (list, tuple)) and 0 < len(envs) <= _WIDE:
            return [id(innermost(lane)) for lane in envs]
    return [id(layers[-1])]


def _reworks(layer: Any) -> bool:
    """A wrapper that hands observations on changed, and draws nothing while it does so."""
    if not _names(layer) & {"ObservationWrapper", "VectorObservationWrapper"}:
        return False
    method = next((each for name in _CHANGES if callable(each := lying_in(type(layer), name))), None)
    code = getattr(inspect.unwrap(method), "__code__", None) if method is not None else None
    return code is not None and not _DRAWS & set(code.co_names)


def library(layer: Any) -> bool:
    """A wrapper that keeps to its environment. One of the user's may be a view of its own on a shared world."""
    return type(layer).__module__.startswith(("gymnasium.wrappers", "gym.wrappers", "stable_baselines3."))


def _norm_reward(layers: list[Any]) -> bool | None:
    """Of a VecNormalize: whether it changes rewards, as it is set now."""
    found = next((value for each in layers if (value := attribute(each, "norm_reward")) is not None), None)
    return found if isinstance(found, bool) else None


def _names(thing: Any) -> set[str]:
    return {base.__name__ for base in type(thing).__mro__}


def _spec(env: Any) -> Any:
    spec = attribute(env, "spec")  # of a wrapper it is a property that copies, so the environment's own is read
    return spec if hasattr(spec, "id") else None


def _space(layers: list[Any], name: str) -> Any:
    """The outermost that says something. Gymnasium's wrappers keep theirs under an underscore."""
    for each in layers:
        for place in (f"single_{name}", f"_single_{name}", name, f"_{name}"):
            space = attribute(each, place)
            if space is not None and not callable(space):
                return space
    return None


def observation_facts(space: Any) -> dict[str, Any]:
    low, high = _bounds(space)
    return {
        "obs_space": None if space is None else type(space).__name__,
        "obs_shape": _shape(space),
        "obs_dtype": None if getattr(space, "dtype", None) is None else str(space.dtype),
        "obs_low": float(low.min()) if low is not None and np.isfinite(low).all() else None,
        "obs_high": float(high.max()) if high is not None and np.isfinite(high).all() else None,
        "obs_n": _count(space),
    }


def action_facts(space: Any) -> dict[str, Any]:
    low, high = _bounds(space)
    told = low is not None and high is not None and low.size <= _WIDE
    return {
        "action_space": None if space is None else type(space).__name__,
        "action_n": _count(space),
        "action_shape": _shape(space),
        "action_low": low.reshape(-1).tolist() if told and low is not None else None,
        "action_high": high.reshape(-1).tolist() if told and high is not None else None,
    }


def _bounds(space: Any) -> tuple[Any, Any]:
    low, high = getattr(space, "low", None), getattr(space, "high", None)
    try:
        low, high = (None if each is None else np.asarray(each, dtype=np.float64) for each in (low, high))
    except (TypeError, ValueError):
        return None, None
    return (low, high) if low is not None and high is not None and low.size and high.size else (None, None)


def _shape(space: Any) -> list[int] | None:
    shape = getattr(space, "shape", None)
    return [int(each) for each in shape] if isinstance(shape, tuple) else None


def _count(space: Any) -> int | None:
    count = getattr(space, "n", None)
    return int(count) if isinstance(count, (int, np.integer)) else None


def _defined(cls: type) -> list[Any] | None:
    """Where the user's own class says what a step does."""
    step = lying_in(cls, "step")
    code = getattr(inspect.unwrap(step), "__code__", None) if callable(step) else None
    return [shown(code.co_filename), code.co_firstlineno] if code is not None and is_users(code.co_filename) else None
