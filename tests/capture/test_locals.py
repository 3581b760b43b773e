"""Variables of a frame are looked at in the midst of the program: what it holds itself must stay."""

from __future__ import annotations

import sys
import weakref
from types import FrameType
from typing import Any

from rldebug.capture.registry import locals_of


class _Thing:
    pass


def _caller() -> FrameType:
    return sys._getframe(2)


def _look() -> dict[str, Any]:
    return locals_of(_caller())


def _looked_at(given: dict[str, Any]) -> dict[str, Any]:
    locals_of(sys._getframe(1))
    return given


def test_locals_that_the_program_keeps_are_not_emptied() -> None:
    def settings(gamma: float = 0.99) -> dict[str, Any]:
        kept = locals()
        assert _look()["gamma"] == 0.99
        return dict(kept)

    assert settings()["gamma"] == 0.99


def test_locals_on_their_way_into_a_call_are_not_emptied() -> None:
    def told(name: str = "ppo") -> str:
        return "{name}".format(**_looked_at(locals()))

    assert told() == "ppo"


def test_nothing_is_kept_alive_by_looking() -> None:
    def program() -> weakref.ref[_Thing]:
        thing = _Thing()
        known = weakref.ref(thing)
        assert _look()["thing"] is thing
        del thing
        assert known() is None
        return known

    assert program()() is None
