"""Settings within reach of a loss: numbers by the usual names of γ, λ, coefficients, where `backward` is called.

A setting may be an attribute of an algorithm of a library, a variable, a constant of the module, a field of a config.
Whoever computes the loss has it at hand, whatever the style. What the program computes is held against these numbers.
Looked at once for each line that calls `backward`, in each audit. Nothing of the program's is called.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice
from types import FrameType, FunctionType, ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from rldebug.capture import backward
from rldebug.capture.place import is_users
from rldebug.capture.registry import locals_of
from rldebug.capture.supports import supports
from rldebug.evidence.synonyms import AMBIGUOUS, NAMES, plain_name

_TORCH = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_FRAMES = 24
_NAMES = 400  # of one namespace
_TOLD = 200  # in all

CONCEPTS = frozenset(
    {"discount", "lam", "clip", "value_coef", "entropy_coef", "max_grad_norm", "epochs", "n_step", "tau", "polyak"}
)
"""Those that can be read off what a program computes; no counters."""

AT_HAND, OF_MODULE, HELD = 0, 1, 2  # variables and attributes; constants of its module; fields of what these hold


def install(session: Any) -> None:
    if backward.watch is not None:  # --without backward
        backward.watch.reach = WithinReach(session)


class WithinReach:
    def __init__(self, session: Any) -> None:
        self.session = session
        self.told: set[tuple[str, str, float]] = set()
        self.off = False

    def saw(self) -> None:
        if self.off or len(self.told) >= _TOLD:
            return
        try:
            self._look(sys._getframe(1))
        except Exception:  # losses are seen all the same
            self.off = True
            self.session.switch.broken["capture/within_reach"] = traceback.format_exc()

    def _look(self, frame: FrameType) -> None:
        for name, value, holder, how in within_reach(frame):
            key = (name, holder, value)
            if key not in self.told and len(self.told) < _TOLD:
                self.told.add(key)
                self.session.note("setting", name=name, value=value, holder=holder, how=how)
        for count, first, last in supports(sys._getframe(1)):
            key = (f"{count} atoms to {last}", "", first)
            if key not in self.told and len(self.told) < _TOLD:
                self.told.add(key)
                self.session.note("support", count=count, first=first, last=last)


def within_reach(frame: FrameType | None) -> Iterator[tuple[str, float, str, int]]:
    """Name, value, whose it is, and how near, of each; outwards from a frame."""
    modules: set[str] = set()
    for _ in range(_FRAMES):
        if frame is None:
            return
        code = frame.f_code
        if not code.co_filename.startswith((_TORCH, _OURS)):
            variables = locals_of(frame)
            if code.co_name != "<module>":
                yield from _numbers(variables, code.co_name, AT_HAND)
            first = variables.get(code.co_varnames[0]) if code.co_argcount else None
            spaces: list[Mapping[str, Any]] = [variables]
            if (own := _fields(first)) is not None:
                yield from _numbers(own, type(first).__name__, AT_HAND)
                spaces.append(own)
            if is_users(code.co_filename) and code.co_filename not in modules:
                modules.add(code.co_filename)
                yield from _numbers(frame.f_globals, "", OF_MODULE)
                spaces.append(frame.f_globals)
            for space in spaces:
                for held in list(islice(space.values(), _NAMES)):
                    if held is not first and not _elsewhere(held) and (inside := _fields(held)) is not None:
                        yield from _numbers(inside, type(held).__name__, HELD)
        frame = frame.f_back


def _fields(thing: Any) -> Mapping[str, Any] | None:
    """What lies in an object or a dict, without asking it."""
    kind = type(thing)  # isinstance would ask an object that stands for another
    if issubclass(kind, (type, ModuleType, FunctionType, Tensor, np.ndarray)):
        return None
    if kind is dict:
        return dict(islice(thing.items(), _NAMES))
    if issubclass(kind, tuple):  # a named one, or none of ours
        names = vars(kind).get("_fields")
        return dict(zip(names, tuple.__iter__(thing), strict=False)) if isinstance(names, tuple) else None
    try:
        inside = object.__getattribute__(thing, "__dict__")
    except AttributeError:
        return None
    if not isinstance(inside, dict):
        return None
    return {**inside, **inside.get("_buffers", {})} if issubclass(kind, nn.Module) else inside


def _elsewhere(thing: Any) -> bool:
    """Its numbers mean something else: γ of a scheduler, of an environment that scales rewards by it."""
    kind = type(thing)
    return kind.__module__.startswith("torch.optim") or (hasattr(kind, "step") and hasattr(kind, "reset"))


def _numbers(space: Mapping[str, Any], holder: str, how: int) -> Iterator[tuple[str, float, str, int]]:
    for name, value in list(islice(space.items(), _NAMES)):
        if type(name) is str and (number := _number(value)) is not None:
            plain = plain_name(name)
            if plain in _known():
                yield plain, number, holder, how


def _number(value: Any) -> float | None:
    kind = type(value)
    if kind in (int, float) or issubclass(kind, (np.integer, np.floating)):
        return float(value)
    if kind is Tensor and value.ndim == 0 and value.device.type == "cpu" and not value.requires_grad:
        return float(value) if value.is_floating_point() else None
    return None


@cache
def _known() -> frozenset[str]:
    names = (
        name
        for table in NAMES.values()
        for concept, each in table.items()
        if concept in CONCEPTS
        for name in each.split()
    )
    return frozenset(name for name in names if not name.endswith("?") and name not in AMBIGUOUS) | {"tau"}
