"""Environments that hand every question on, to workers or to others inside: something else stands for them in the log.

`step` never resets them, and they take their seed in a call of its own.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from rldebug.capture.env_calls import GROUP
from rldebug.capture.env_watch import Known, Watch


class Identity:
    """Stands for an environment in the log: one for each innermost, however it is wrapped."""


class IdentityWatch(Watch):
    def __init__(self, shared: Any) -> None:
        super().__init__(shared)
        self.identities: WeakKeyDictionary[Any, Identity] = WeakKeyDictionary()

    def innermost(self, env: Any) -> Any:
        raise NotImplementedError

    def facts(self, env: Any) -> dict[str, Any]:
        """What it says of itself."""
        raise NotImplementedError

    def meet(self, env: Any) -> Known:
        identity = self.identities.setdefault(self.innermost(env), Identity())
        known = self.known[id(env)] = Known(env, identity, *self.lanes_of(env))
        told = self.shared.told.get(id(identity))
        if told is None or told() is not identity:
            self.announce(env, known)
        return known

    def announce(self, env: Any, known: Known) -> None:
        self.shared.told[id(known.inner())] = known.inner
        try:
            known.facts.update(self.facts(env))
        except Exception as error:  # a spec unlike any we know: no reason to stop watching
            known.facts.update({"id": type(env).__name__, "unreadable": repr(error)})
        self.log.new(known.inner(), self.kind, known.lanes, "disabled", known.facts)

    def quick_step(self, original: Any, env: Any, action: Any) -> Any:
        return self.step(original, env, (action,), {})

    def seeded(self, original: Any, env: Any, args: Any, kwargs: Any) -> Any:
        """`seed`, `set_seed`: it resets the environments inside with it; the program resets once more before it
        plays."""
        result = self.call(original, env, args, kwargs)
        if GROUP not in self.off:
            self.switch.guard(GROUP, self.sent, env, args[0] if args else kwargs.get("seed"))
        return result
