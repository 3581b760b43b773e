"""Methods of environments are replaced by stand-ins: the outermost call is handed on, and what it calls is silent.

A stand-in is an ordinary function with nothing of ours in it but a gate. A program may send it to another process, or
write it to a file, with the class it belongs to: there the gate is a plain namespace that says nobody is watching.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from functools import wraps
from types import FunctionType, SimpleNamespace
from typing import Any, cast
from weakref import ReferenceType, WeakSet

from rldebug.capture import nvtx
from rldebug.capture.switch import Switchboard

GROUP = "environments"


class Gate:
    """Where a stand-in asks whether anybody is watching."""

    __slots__ = ("watch",)

    def __init__(self) -> None:
        self.watch: Any = None

    def shut(self) -> None:
        self.watch = None

    def __reduce__(self) -> tuple[Any, ...]:
        return SimpleNamespace, (), {"watch": None}


def stand_in(gate: Gate, told: str, original: Callable[..., Any]) -> Callable[..., Any]:
    """In place of a method: the watch behind the gate is handed the call, unless it is part of another one."""
    owner = None  # see _with_class_of
    # In these functions no name of this module may be used: a copy in another process has none of them.

    def call(self, *args, **kwargs):  # type: ignore[no-untyped-def]
        watch = gate.watch
        if watch is None:
            return original(self, *args, **kwargs)
        inside = watch.here.inside
        if inside:
            if told == "reset":
                watch.shared.renewed = True
            elif told == "time_step":
                return watch.within(original, self, args, kwargs)
            return original(self, *args, **kwargs) if inside is True else inside(told, original, self, args, kwargs)
        return getattr(watch, told)(original, self, args, kwargs)
        owner  # noqa: B018

    def quick(self, action):  # type: ignore[no-untyped-def]
        watch = gate.watch
        if watch is None:
            return original(self, action)
        inside = watch.here.inside
        if inside:
            return original(self, action) if inside is True else inside("step", original, self, (action,), {})
        known = watch.steady
        if known is None or known.ref() is not self:
            return watch.quick_step(original, self, action)
        shared = watch.shared
        if shared.holding or shared.waiting or "environments" in watch.off:
            return watch.quick_step(original, self, action)
        here = watch.here  # in stacks.py a frame that has it is a call of an environment
        here.inside = shared.within
        try:
            result = original(self, action)
        finally:
            here.inside = False
        try:
            if not shared.light(known, result):
                watch.tell(watch.saw_step, self, action, result)
        except Exception:
            watch.switch.failed("environments")
        return result
        owner  # noqa: B018

    # A step goes through one of these for every wrapper; the second takes a third of the time of the first.
    code, many = getattr(original, "__code__", None), inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
    plain = code is not None and code.co_argcount == 2 and not code.co_kwonlyargcount and not code.co_flags & many
    if told != "step" or code is None or not plain or getattr(original, "__defaults__", None):
        return wraps(original)(_with_class_of(original, call))
    # The argument keeps its name: some give it by keyword.
    own = quick.__code__
    quick.__code__ = own.replace(co_varnames=(*code.co_varnames[:2], *own.co_varnames[2:]))
    return wraps(original)(_with_class_of(original, quick))


def _with_class_of(original: Any, made: Any) -> Callable[..., Any]:
    """With the cell that `super()` finds its class by: who makes the class anew (attrs, for slots) looks for it."""
    cells = dict(zip(original.__code__.co_freevars, original.__closure__ or (), strict=True))
    if "__class__" not in cells:
        return cast("Callable[..., Any]", made)
    names = zip(made.__code__.co_freevars, made.__closure__, strict=True)
    closure = tuple(cells["__class__"] if name == "owner" else cell for name, cell in names)
    return FunctionType(made.__code__, made.__globals__, made.__name__, None, closure)


class Here(threading.local):
    """Of each thread: whether a call is under way, and who keeps back calls within one that may be no environment's."""

    inside: Any = False  # or who is handed the calls within this one, see Shared.within
    held: Any = None


class Shared:
    """One for all kinds of environments: what is nested in what is told over all of them."""

    def __init__(self, switch: Switchboard, log: Any) -> None:
        self.switch, self.log = switch, log
        self.here = Here()
        self.told: dict[int, ReferenceType[Any]] = {}  # environments that the log has been told of
        self.created: dict[int, tuple[ReferenceType[Any], tuple[str, int]]] = {}
        self.stand_ins: WeakSet[Any] = WeakSet()
        self.watches: list[tuple[type, Any]] = []  # for subclasses of each
        self.waiting: dict[int, Any] = {}  # calls kept back, see hand_rolled.py
        self.holding = 0  # calls under way that may be no environment's
        self.renewed = False  # something was reset within the call under way
        self.ended = ""  # how an episode ended within it: cut or over, where an environment within said which
        self.within: Any = True  # or what is handed the calls within the next one, as looks.py is
        self.on_meeting: Callable[[Any], None] | None = None  # told of an object when the program itself first calls it
        self.light = getattr(log, "light", None)  # of a log that only counts: told of a step, and of nothing else
        self.ranges = self.light is not None and nvtx.wanted()


_shared: list[Shared] = []


def shared_by(switch: Switchboard, log: Any) -> Shared:
    """The same for all files that install hooks on one switchboard."""
    if not _shared or _shared[0].switch is not switch or _shared[0].log is not log:
        _shared[:] = [Shared(switch, log)]
        switch.when_undone(_shared.clear)
    return _shared[0]


def cover_class(shared: Shared, cls: type) -> bool:
    """Whether a class is of a kind that is watched; it is from now on. Of a base of a base the nearer counts."""
    for base, watch in reversed(shared.watches):
        if issubclass(cls, base):
            watch.wrap(cls)
            return True
    return False
