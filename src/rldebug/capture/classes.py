"""Called with each class that the program's own code defines: those there already, and later ones as they are made.

A class statement calls `builtins.__build_class__`. A function in its place would be one frame more between the class
and the code around it, and some libraries look there: pydantic for names, `overrides` for the base classes. So what is
put there is an object whose `__call__` is looked up through a descriptor. Python asks the descriptor before the call,
and lets go of what it was given right after: between the two there is no frame of ours.
"""

from __future__ import annotations

import builtins
import functools
import gc
import sys
from collections.abc import Callable
from typing import Any
from weakref import WeakSet

from rldebug.capture.living import living
from rldebug.capture.place import is_users
from rldebug.capture.switch import Switchboard

_YOUNG = 20_000  # objects; more, and looking through them would take long
_LAST = 8  # classes that are looked at instead


def when_defined(switch: Switchboard, group: str, look: Callable[[type], Any]) -> None:
    newest = _Newest(look)
    switch.guard(group, newest.look_back)

    def make(original: Any) -> Any:
        class Builder:
            __call__ = _Lookup(original, lambda name: switch.guard(group, newest.look_at, name))
            __module__ = "builtins"

            def __reduce__(self) -> str:
                # By name, as the original. Who pickles the globals of a module has all builtins among them: a callback
                # of Stable-Baselines3 keeps those of the library, and is saved with the model where a schedule uses it.
                return "__build_class__"

        return Builder()

    switch.replace(group, builtins, "__build_class__", make)


class _Newest:
    def __init__(self, look: Callable[[type], Any]) -> None:
        self.look = look
        self.seen: WeakSet[type] = WeakSet()

    def look_back(self) -> None:
        """What the program has defined and imported before it was watched."""
        for module in list(sys.modules.values()):
            file = getattr(module, "__file__", None)
            if isinstance(file, str) and is_users(file):
                self._among(list(vars(module).values()), getattr(module, "__name__", ""))

    def look_at(self, module: str) -> None:
        """A class that has just been made. No name leads to it yet: it is among the youngest objects there are."""
        young = living(0) if gc.get_count()[0] <= _YOUNG and gc.isenabled() else None
        if young is not None and (self._among(young, module) or self._among(living(1) or [], module)):
            return  # the second, where a collection came in between
        self._among(type.__subclasses__(object)[-_LAST:], module)

    def _among(self, objects: list[Any], module: str) -> bool:
        # Not isinstance: it may ask an object for its class, and a proxy may do anything then.
        found = [each for each in objects if issubclass(type(each), type) and vars(each).get("__module__") == module]
        new = [each for each in found if type(each).__hash__ is not None and each not in self.seen]
        for each in new:
            self.seen.add(each)
            self.look(each)
        return bool(new)


class _Lookup:
    """The descriptor. A library gets the original; the user's code the same, with somebody who waits for its end."""

    def __init__(self, original: Any, ended: Callable[[str], Any]) -> None:
        self.original, self.ended = original, ended

    def __get__(self, builder: Any, owner: Any) -> Any:
        frame = sys._getframe(1)
        if not is_users(frame.f_code.co_filename):
            return self.original
        call = _Call(self.original)
        call.ended, call.name = self.ended, str(frame.f_globals.get("__name__"))
        return call


class _Call(functools.partial[Any]):
    """For one class statement. Its call goes to the original without a frame; its end is the end of the statement."""

    ended: Callable[[str], Any]
    name: str

    def __del__(self) -> None:
        self.ended(self.name)
