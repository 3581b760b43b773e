"""Steps within steps: where nothing is wanted of them, the stand-ins of what is stepped by others are taken out.

A step of CartPole passes four wrappers, and that of a vector four for each lane: the stand-ins on the way took longer
than all else that a profile does. A class is put aside when its steps have come from within others alone. What the
program itself calls is first met as it is reset, by a stand-in that stays: then its step gets its own back in time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any
from weakref import WeakSet

from rldebug.capture.env_calls import GROUP, Shared
from rldebug.capture.env_facts import lying_in
from rldebug.capture.environments import Gymnasium

_SEEN = 16  # calls from within, before a step is put aside
_LOOK = 4096  # calls from within, after which those that are still there stay


class InnerSteps:
    """Of one switchboard. Is handed the calls within others, until there is nothing left to put aside."""

    def __init__(self, shared: Shared) -> None:
        self._shared, self._switch = shared, shared.switch
        self._calls: Counter[Any] = Counter()  # of originals
        self._left = _LOOK
        self._called: WeakSet[Any] = WeakSet()  # stand-ins that the program itself calls
        self._aside: dict[Any, list[tuple[type, Any]]] = {}  # originals: where they lie bare, and the stand-ins
        shared.within, shared.on_meeting = self.within, self.met

    def within(self, told: str, original: Callable[..., Any], env: Any, args: Any, kwargs: Any) -> Any:
        """A call from within another."""
        self._left -= 1
        if told == "step" and original not in self._aside:
            self._calls[original] += 1
            if self._calls[original] == _SEEN:
                self._switch.guard(GROUP, self._put_aside, original)
        if self._left <= 0:
            self._shared.within = True
        return original(env, *args, **kwargs)

    def met(self, env: Any) -> None:
        """The program itself calls an object, for the first time."""
        self._left, self._shared.within = _LOOK, self.within
        found = lying_in(type(env), "step")
        for cls, stand_in in self._aside.pop(found, ()):
            if vars(cls).get("step") is found:
                cls.step = stand_in  # type: ignore[attr-defined]
                self._called.add(stand_in)
        if found in self._shared.stand_ins:
            self._called.add(found)

    def _put_aside(self, original: Any) -> None:
        for cls, name, replaced, stand_in, _ in self._switch._put_back:
            if name != "step" or replaced is not original or not self._may_be(cls, stand_in):
                continue
            cls.step = original
            self._aside.setdefault(original, []).append((cls, stand_in))

    def _may_be(self, cls: Any, stand_in: Any) -> bool:
        """Whether it lies there as it was put, and an object of the class is met as it is reset."""
        if stand_in in self._called or not isinstance(cls, type) or vars(cls).get("step") is not stand_in:
            return False
        nearest = next((watch for base, watch in reversed(self._shared.watches) if issubclass(cls, base)), None)
        return isinstance(nearest, Gymnasium) and lying_in(cls, "reset") in self._shared.stand_ins
