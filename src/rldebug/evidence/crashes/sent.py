"""What was on its way to another process, to a file or into a copy, and what in it could not go."""

from __future__ import annotations

import linecache
import operator
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import FrameType, FunctionType, MethodType
from typing import Any

from rldebug.evidence.crashes.expression import values_of
from rldebug.evidence.crashes.facts import Fact, fact_of, is_tensor, kind_of
from rldebug.evidence.crashes.inside import Reached, is_process, names_of, walk
from rldebug.evidence.crashes.origin import is_own
from rldebug.evidence.crashes.views import shared_in

Level = tuple[FrameType, int, int]

# Where an object is handed over: module, function, and the argument that holds it.
_HANDED = (
    ("multiprocessing.popen_", "_launch", "process_obj"),
    ("multiprocessing.reduction", "dump", "obj"),
    ("multiprocessing.reduction", "dumps", "obj"),
    ("cloudpickle", "dump", "obj"),
    ("cloudpickle", "dumps", "obj"),
    ("torch.serialization", "save", "obj"),
    ("copy", "deepcopy", "x"),
)
_PICKLES = ("pickle", "_pickle", "dill", "joblib", "cloudpickle")
# Functions that an object is asked to be taken apart by: the innermost of them was given the one that refuses.
_TAKES_APART = re.compile(r"__(reduce|reduce_ex|getstate|getnewargs|getnewargs_ex)__|reduce_\w+|assert_spawning")
_BY_TYPE = re.compile(r"(?:cannot|can't) pickle '?([\w.]+)'? objects?\b")
_BY_NAME = re.compile(
    r"(?:pickle|get) local object (?:'|<\w+ )([^'\s]+)|[Cc]an't pickle <(?:function|class) '?([^'\s>]+)'?"
)

_CARRIERS = ("builtins", "functools", "collections", "concurrent.futures.process")  # not what the user would name

Matches = Callable[[Any], bool]


def sent_of(levels: list[Level], message: str) -> Fact | None:
    """None where nothing was being pickled or copied. `path` is missing where what refuses was not found."""
    frames = [frame for frame, _, _ in levels]
    handed = list(_handed(levels))
    if not handed:
        return None
    fact: Fact = {"by": handed[0][0], "whole": type(handed[0][1]).__name__}
    names = names_of(frames)
    if "fds_to_keep" in message:
        return fact | {"shared": shared_in(handed[0][1], names)}
    refuses = _refuses(frames, message)
    by_value = any(module == "cloudpickle" for module, _ in handed)
    for opaque in (False, True):
        for _, whole in handed if refuses else ():
            for reached in walk(whole, by_value=by_value, opaque=opaque):
                if _matches(refuses, reached.value):
                    return fact | _told(reached, names)
    return fact


def _handed(levels: list[Level]) -> Iterator[tuple[str, Any]]:
    for frame, _, _ in levels:
        module = str(frame.f_globals.get("__name__", ""))
        for place, function, argument in _HANDED:
            if module.startswith(place) and frame.f_code.co_name == function and argument in frame.f_locals:
                yield place if place == "torch.serialization" else place.partition(".")[0], frame.f_locals[argument]
                break
    yield from _given_to_pickle(*levels[-1][:2]) if levels else ()


def _given_to_pickle(frame: FrameType, line: int) -> Iterator[tuple[str, Any]]:
    """pickle.dump() is written in C and has no frame: by the line that calls it."""
    found = re.search(r"([\w.]+)\.dumps?\(\s*([A-Za-z_][\w.]*)", linecache.getline(frame.f_code.co_filename, line))
    known = values_of([found[1], found[2]], frame) if found else {}
    if found and found[2] in known and getattr(known.get(found[1]), "__name__", "") in _PICKLES:
        yield "pickle", known[found[2]]


def _refuses(frames: list[FrameType], message: str) -> Matches | None:
    """By which the object that cannot go is known: itself, where a method of it was asked, else its type."""
    for frame in reversed(frames):
        if _TAKES_APART.fullmatch(frame.f_code.co_name) and frame.f_code.co_argcount:
            itself = frame.f_locals.get(frame.f_code.co_varnames[0])
            return None if type(itself).__name__ == "CloudpickleWrapper" else partial(operator.is_, itself)
        if str(frame.f_globals.get("__name__", "")).partition(".")[0] in ("cloudpickle", "copy"):
            break
    if found := _BY_TYPE.search(message):
        name = found[1]
        return lambda value: name in (type(value).__name__, f"{type(value).__module__}.{type(value).__name__}")
    if found := _BY_NAME.search(message):
        name = found[1] or found[2]
        return lambda value: (
            isinstance(value, FunctionType | type)
            and name in (value.__qualname__, f"{value.__module__}.{value.__qualname__}")
        )
    return None


def _matches(refuses: Matches | None, value: Any) -> bool:
    try:
        return refuses is not None and refuses(value)
    except Exception:
        return False


def _told(reached: Reached, names: Mapping[int, str]) -> Fact:
    culprit = reached.value
    path = reached.path(names)
    if type(reached.trail[0][1]) is tuple:  # a task of a pool: its number, its part, the function, the arguments
        path = re.sub(r"^\[3\]", "args", path)
    fact: Fact = {"path": path, "type": _type(culprit)}
    if isinstance(culprit, FunctionType):
        fact["made"] = f"{os.path.basename(culprit.__code__.co_filename)}:{culprit.__code__.co_firstlineno}"
    methods = [value for _, value in reached.trail[:-1] if isinstance(value, MethodType)]
    if methods:
        fact["method_of"] = type(methods[0].__self__).__name__
    place = _holder(reached)
    if place is not None:
        fact["holder"], fact["holder_type"] = reached.path(names, place + 1), type(reached.trail[place][1]).__name__
    if is_tensor(culprit):
        fact["tensor"] = fact_of(culprit, search=False)
    return fact


def _holder(reached: Reached) -> int | None:
    """The outermost of the library's objects around it: what the user made, and would make in the worker instead."""
    found = None
    for place in reversed(range(len(reached.trail) - 1)):
        value = reached.trail[place][1]
        if _of_a_library(value):
            found = place
        elif type(value).__module__ != "builtins":
            break
    return found


def _of_a_library(value: Any) -> bool:
    kind = type(value)
    if kind_of(value) == "environment" or is_process(value) or kind.__name__ == "CloudpickleWrapper":
        return False
    if isinstance(value, MethodType | FunctionType) or kind.__module__ in _CARRIERS:
        return False
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return file is not None and not is_own(os.fspath(file), kind.__module__)


def _type(value: Any) -> str:
    if isinstance(value, FunctionType):
        return "lambda" if value.__name__ == "<lambda>" else "local function"
    kind = type(value)
    return kind.__name__ if kind.__module__ in ("builtins", "__main__") else f"{kind.__module__}.{kind.__name__}"


def article(kind: str) -> str:
    """`an _io.TextIOWrapper`."""
    plain = kind.lstrip("_")
    return f"{'an' if plain[:1].lower() in 'aeiou' else 'a'} {kind}"


def told_as(sent: Fact) -> str:
    """`env.writer, a SummaryWriter,`: what could not go, or what holds it; empty where that was not found."""
    path, kind = sent.get("path", ""), sent.get("type", "")
    if sent.get("holder_type"):
        path, kind = sent["holder"], sent["holder_type"]
    return f"{path}, {article(kind)}," if path and kind else article(kind) if kind else path
