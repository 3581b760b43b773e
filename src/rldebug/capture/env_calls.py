"""Methods of environments are replaced by stand-ins: the outermost call is handed on, and what it calls is silent.

A stand-in is an ordinary function with nothing of ours in it but a gate. A program may send it to another process, or
write it to a file, with the class it belongs to: there the gate is a plain namespace that says nobody is watching.
"""

from __future__ import annotations

import inspect
import threading
from _thread import get_ident
from collections.abc import Callable
from functools import wraps
from types import FunctionType, SimpleNamespace
from typing import Any, cast
from weakref import ReferenceType, WeakSet

import numpy as np

from rldebug.capture import nvtx
from rldebug.capture.switch import Switchboard

GROUP = "environments"


class Steady:
    """The environment that was stepped last, where nothing has happened since and the log only counts: another step of
    it tells nothing new. The stand-in counts it here, asks nobody, and calls nothing but the method itself: between
    two steps a program goes through so much else that each line of ours has to be fetched anew."""

    __slots__ = ("array", "calls", "episodes", "ident", "no", "playing", "quiet", "ref", "thread", "under_way")

    def __init__(self) -> None:
        self.ref: ReferenceType[Any] | None = None  # None: no environment is
        self.playing: Any = None  # what the log keeps of it
        self.thread = 0
        self.under_way = False  # a step of it
        self.calls = self.episodes = 0  # that the log has not been told of
        self.quiet = b""  # flags of a batch that end no lane
        self.no, self.array, self.ident = np.bool_(False), np.ndarray, get_ident

    def begin(self, ref: ReferenceType[Any], lanes: int) -> None:
        self.thread, self.quiet = get_ident(), bytes(lanes)
        self.ref = ref

    def end(self) -> None:
        self.ref = None
        calls, self.calls = self.calls, 0
        if calls:
            self.playing["calls"] += calls
            self.playing["episodes"] += self.episodes
            self.episodes = 0


class Gate:
    """Where a stand-in asks whether anybody is watching."""

    __slots__ = ("steady", "watch")

    def __init__(self) -> None:
        self.watch: Any = None
        self.steady = Steady()

    def shut(self) -> None:
        self.watch, self.steady = None, Steady()

    def __reduce__(self) -> tuple[Any, ...]:
        return SimpleNamespace, (), {"watch": None, "steady": SimpleNamespace(ref=None, under_way=False)}


def stand_in(gate: Gate, told: str, original: Callable[..., Any]) -> Callable[..., Any]:
    """In place of a method: the watch behind the gate is handed the call, unless it is part of another one."""
    owner = None  # see _with_class_of
    # In these functions no name of this module may be used: a copy in another process has none of them.

    def call(self, *args, **kwargs):  # type: ignore[no-untyped-def]
        watch = gate.watch
        if watch is None:
            return original(self, *args, **kwargs)
        steady = gate.steady
        inside = watch.shared.within if steady.under_way and steady.ident() == steady.thread else watch.here.inside
        if inside:
            if told == "reset":
                watch.shared.renewed = True
            elif told == "time_step":
                return watch.within(original, self, args, kwargs)
            return original(self, *args, **kwargs) if inside is True else inside(told, original, self, args, kwargs)
        return getattr(watch, told)(original, self, args, kwargs)
        owner  # noqa: B018

    def quick(self, action):  # type: ignore[no-untyped-def]
        steady = gate.steady
        ref = steady.ref
        if ref is not None and ref() is self and not steady.under_way and steady.ident() == steady.thread:
            here = steady.under_way = True  # in stacks.py a frame that has `here` is a call of an environment
            try:
                result = original(self, action)
            finally:
                steady.under_way = False
            if type(result) is tuple and len(result) == 5:
                ended, cut = result[2], result[3]
                if (ended is False or ended is steady.no) and (cut is False or cut is steady.no):
                    steady.calls += 1
                    return result
                if type(ended) is steady.array and type(cut) is steady.array:
                    # A tenth of what NumPy takes to look at them. Of two that both end some, none is read here.
                    flags, other, quiet = ended.tobytes(), cut.tobytes(), steady.quiet
                    flags = other if flags == quiet else flags if other == quiet else b""
                    if len(flags) == len(quiet):
                        steady.calls += 1
                        if flags != quiet:
                            steady.episodes += len(flags) - flags.count(0)
                        return result
            watch = gate.watch
            if watch is not None:
                watch.counted(self, action, result)
            return result
        watch = gate.watch
        if watch is None:
            return original(self, action)
        inside = watch.shared.within if steady.under_way and steady.ident() == steady.thread else watch.here.inside
        if inside:
            return original(self, action) if inside is True else inside("step", original, self, (action,), {})
        return watch.quick_step(original, self, action)
        here, owner  # noqa: B018

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
        self.steady: Steady = getattr(log, "steady", None) or Steady()
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
