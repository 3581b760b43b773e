"""A session that only listens: what the small hooks say to it is kept in lists."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rldebug.capture.registry import Registry
from rldebug.capture.switch import Switchboard


class Listening:
    """The part of a Session that hooks talk to."""

    def __init__(self) -> None:
        self.switch = Switchboard()
        self.registry = Registry()
        self.updates = 0
        self.env_calls = 0
        self.phase = 0
        self.on_audit: list[Any] = []
        self.on_finish: list[Any] = []
        self.watch_child = None
        self.notes: list[dict[str, Any]] = []
        self.things: dict[tuple[str, str], dict[str, Any]] = {}

    def look_soon(self) -> None:
        pass

    def note(self, kind: str, /, **detail: Any) -> None:
        self.notes.append({"kind": kind, "update": self.updates, **detail})

    def thing(self, kind: str, key: str, /, **detail: Any) -> None:
        self.things[kind, key] = detail

    def noted(self, kind: str) -> list[dict[str, Any]]:
        return [each for each in self.notes if each["kind"] == kind]

    def only(self, kind: str) -> dict[str, Any]:
        """The one thing of a kind."""
        (found,) = [each for (name, _), each in self.things.items() if name == kind]
        return found


@contextmanager
def listening(*hooks: Any) -> Iterator[Listening]:
    """Hooks in place for a while. Whatever breaks in one of them fails the test."""
    session = Listening()
    for each in hooks:
        each.install(session)
    try:
        yield session
        for finish in session.on_finish:
            finish()
    finally:
        session.switch.undo()
    assert not session.switch.broken, "\n".join(session.switch.broken.values())
