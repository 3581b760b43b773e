"""The way into an object, by what it holds itself. Nothing of the program is run for it, for a bounded time."""

from __future__ import annotations

import functools
import re
import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import CellType, FrameType, FunctionType, MethodType, ModuleType
from typing import Any

from rldebug.evidence.crashes.facts import attributes, is_array, is_tensor
from rldebug.evidence.crashes.origin import is_own

_MOST = 20_000  # objects that are looked into
_LONGEST = 0.5  # seconds
_DEEPEST = 24
_OF_ONE = 256  # items of one collection: a buffer has a million
_SHORT = re.compile(r"\._(?:modules|parameters|buffers)\['(\w+)'\]")
_NOT_SENT = (
    "_target",
    "_args",
    "_kwargs",
    "_parent_pid",
    "_popen",
    "_closed",
)  # of a process; the first three are told


@dataclass(frozen=True)
class Reached:
    """An object, and the way to it from the whole: how each step is written, and what lies there."""

    value: Any
    trail: tuple[tuple[str, Any], ...]

    def path(self, names: Mapping[int, str], upto: int | None = None) -> str:
        """`env.writer._lock`: from the innermost object on the way that the user has a name for."""
        trail = self.trail[:upto]
        named = max((place for place, (_, value) in enumerate(trail) if id(value) in names), default=0)
        steps = "".join(step for step, _ in trail[named + 1 :])
        # Behind an arrow stands a name of the function's own: the way to the function adds nothing.
        return _SHORT.sub(r".\1", (names.get(id(trail[named][1]), "") + steps).rpartition("→")[2]).lstrip(".")


def walk(whole: Any, *, by_value: bool = False, opaque: bool = False) -> Iterator[Reached]:
    """All that lies in an object, the nearest first.

    by_value: functions are sent with what they close over. opaque: also what says itself, by a method, what is sent of
    it; that may be less than it holds.
    """
    ends = time.monotonic() + _LONGEST
    came: dict[int, tuple[int, str, Any]] = {id(whole): (0, "", whole)}  # keeps them alive: an id is not used again
    ahead = deque([(whole, 0)])
    while ahead and time.monotonic() < ends:
        value, depth = ahead.popleft()
        yield Reached(value, _back(came, value))
        if depth >= _DEEPEST or not (opaque or value is whole or not _takes_itself_apart(value)):
            continue
        try:
            inside = list(_inside(value, by_value))
        except Exception:  # a collection that changes meanwhile, an object that is half gone
            continue
        for step, child in inside:
            if id(child) not in came and len(came) < _MOST:
                came[id(child)] = (id(value), step, child)
                ahead.append((child, depth + 1))


def _back(came: Mapping[int, tuple[int, str, Any]], value: Any) -> tuple[tuple[str, Any], ...]:
    trail: list[tuple[str, Any]] = []
    place = id(value)
    while place:
        place, step, each = came[place]
        trail.append((step, each))
    return tuple(reversed(trail))


def is_process(value: Any) -> bool:
    process = sys.modules.get("multiprocessing.process")
    return process is not None and isinstance(value, process.BaseProcess)


def _takes_itself_apart(value: Any) -> bool:
    """Whether it says itself what is sent of it: a logger sends its name."""
    if type(value).__module__ == "builtins" or is_process(value) or isinstance(value, functools.partial):
        return False
    methods = ("__reduce__", "__reduce_ex__", "__getstate__")
    return any(name in vars(each) for each in type(value).__mro__[:-1] for name in methods)


def _inside(value: Any, by_value: bool) -> Iterator[tuple[str, Any]]:
    """What an object holds, with how it is written."""
    if value is None or isinstance(value, str | bytes | int | float | type | ModuleType) or is_tensor(value):
        return
    if isinstance(value, MethodType):
        yield ".__self__", value.__self__
    elif isinstance(value, FunctionType):
        yield from _of_function(value) if by_value else ()
    elif isinstance(value, functools.partial):
        yield from ((".func", value.func), (".args", value.args), (".keywords", value.keywords))
    elif isinstance(value, dict):
        for key in list(dict.keys(value))[:_OF_ONE]:
            yield f"[{key!r}]" if isinstance(key, str | int) else "[…]", dict.__getitem__(value, key)
        if type(value).__module__ == "collections" and hasattr(value, "default_factory"):
            yield ".default_factory", value.default_factory
    elif type(value) in (list, tuple, deque, set, frozenset) or _is_named_tuple(value) or _of_objects(value):
        for place, item in zip(range(_OF_ONE), iter(value), strict=False):
            yield f"[{place}]", item
    held = attributes(value)
    if is_process(value):
        yield from ((name, held.get(f"_{name}")) for name in ("target", "args", "kwargs"))
        held = {name: each for name, each in held.items() if name not in _NOT_SENT}
    yield from ((f".{name}", each) for name, each in held.items())


def _is_named_tuple(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(type(value), "_fields")


def _of_objects(value: Any) -> bool:
    return is_array(value) and value.dtype == object and value.ndim == 1


def _of_function(value: FunctionType) -> Iterator[tuple[str, Any]]:
    """What a function carries along when it is sent by value: what it closes over, and the globals it names."""
    for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=False):
        if isinstance(cell, CellType):
            yield f"→{name}", cell.cell_contents
    for name in value.__code__.co_names:
        if name in value.__globals__:
            yield f"→{name}", value.__globals__[name]
    yield ".__defaults__", value.__defaults__


def names_of(frames: list[FrameType]) -> dict[int, str]:
    """What objects are called in the user's own frames, the innermost first."""
    names: dict[int, str] = {}
    for frame in reversed(frames):
        if not is_own(frame.f_code.co_filename, str(frame.f_globals.get("__name__", ""))):
            continue
        used = {name: frame.f_globals[name] for name in frame.f_code.co_names if name in frame.f_globals}
        held = {name: value for name, value in {**used, **frame.f_locals}.items() if not name.startswith("__")}
        inside = {f"{name}{key}": value for name, of in held.items() for key, value in _parts(of)}
        for name, value in [*held.items(), *inside.items()]:
            if not (value is None or isinstance(value, str | int | float | bool | type | ModuleType)):
                names.setdefault(id(value), name)
    return names


def _parts(value: Any) -> list[tuple[str, Any]]:
    """What is known by the name of another: `self.envs`, `rows[0]`."""
    if isinstance(value, type | ModuleType) or is_process(value):
        return []
    if type(value) in (list, tuple):
        return [(f"[{place}]", each) for place, each in enumerate(value[:64])]
    return [(f".{name}", each) for name, each in list(attributes(value).items())[:64]]
