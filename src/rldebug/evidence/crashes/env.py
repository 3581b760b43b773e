"""What can be told of an environment that lay in a frame: its layers, what they hold by name, and where they step."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

_LAYERS = 12
_NAMES = 40  # of one layer
_LIBRARIES = ("gymnasium", "gym", "stable_baselines3", "sb3_contrib", "builtins", "abc", "typing")


def layers_of(env: Any, attributes: Callable[[Any], dict[str, Any]]) -> list[dict[str, Any]]:
    """From the outermost wrapper in; of a vector of environments, the first."""
    told: list[dict[str, Any]] = []
    seen: set[int] = set()
    while env is not None and id(env) not in seen and len(told) < _LAYERS:
        seen.add(id(env))
        held = attributes(env)
        told.append({"type": type(env).__name__, "names": _names(env, held)} | _steps_at(env))
        below = held.get("env", held.get("venv", held.get("envs")))
        env = below[0] if isinstance(below, list | tuple) and below else below
    return told


def agents_of(held: dict[str, Any]) -> list[str]:
    """The names of the agents, as PettingZoo has them."""
    agents = held.get("possible_agents")
    return [each[:40] for each in agents[:12] if isinstance(each, str)] if isinstance(agents, list) else []


def user_class(kind: type) -> bool:
    """Whether a class is none of a library's."""
    return kind.__module__.split(".")[0] not in _LIBRARIES


def _names(env: Any, held: dict[str, Any]) -> list[str]:
    own = [each for each in type(env).__mro__ if each.__module__.split(".")[0] not in _LIBRARIES]
    defined = [name for each in own for name in vars(each)]
    return [name[:60] for name in dict.fromkeys([*held, *defined]) if not name.startswith("_")][:_NAMES]


def _steps_at(env: Any) -> dict[str, Any]:
    """File and line of step(), where it is the user's own to change; and one line of each class that is."""
    told: dict[str, Any] = {}
    for each in type(env).__mro__:
        if each.__module__.split(".")[0] in _LIBRARIES:
            continue
        codes = [value.__code__ for value in vars(each).values() if isinstance(value, FunctionType)]
        if codes:
            told.setdefault("classes", []).append([codes[0].co_filename, codes[0].co_firstlineno])
        step = vars(each).get("step")
        if isinstance(step, FunctionType) and "file" not in told:
            told |= {"file": step.__code__.co_filename, "line": step.__code__.co_firstlineno}
    return told
