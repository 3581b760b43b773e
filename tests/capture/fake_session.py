"""A session in which an audit is always under way, and everything that is told ends up in lists."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np

from rldebug.capture.registry import Registry
from rldebug.capture.switch import Switchboard


class FakeRecording:
    def __init__(self, number: int = 0) -> None:
        self.number = number
        self.walked = self.losses = self.steps = 0
        self.scouts_for = None
        self.events: list[tuple[str, dict[str, Any], dict[str, Any]]] = []

    def event(
        self, kind: str, detail: dict[str, Any], arrays: dict[str, Any] | None = None, *, update: int | None = None
    ) -> None:
        self.events.append((kind, detail, arrays or {}))

    def asked_at(self, modules: Any, rows: Any) -> None:
        return None

    def rows(self, tensors: Any) -> tuple[Any, str]:
        return np.arange(len(tensors[0])), "raw"

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [detail for each, detail, _ in self.events if each == kind]

    def arrays(self, kind: str) -> list[dict[str, Any]]:
        return [arrays for each, _, arrays in self.events if each == kind]


class FakeSession:
    def __init__(self) -> None:
        self.switch = Switchboard()
        self.registry = Registry()
        self.audit: FakeRecording | None = FakeRecording()
        self.updates = self.env_calls = 0
        self.on_audit: list[Any] = []
        self.on_finish: list[Any] = []
        self.watch_child = None
        self.notes: list[tuple[str, dict[str, Any]]] = []
        self.things: dict[tuple[str, str], dict[str, Any]] = {}

    def stepped(self) -> None:
        self.updates += 1

    def drew(self) -> None:
        pass

    def look_soon(self) -> None:
        pass

    def joined(self) -> None:
        pass

    def note(self, kind: str, /, **detail: Any) -> None:
        self.notes.append((kind, detail))

    def thing(self, kind: str, key: str, /, **detail: Any) -> None:
        self.things[kind, key] = detail

    @contextmanager
    def timed(self) -> Iterator[None]:
        yield

    def end_audit(self) -> FakeRecording:
        """What the audit has recorded; the next one begins."""
        audit = self.audit
        assert audit is not None
        for each in self.on_audit:
            each(audit)
        self.audit = FakeRecording(audit.number + 1)
        return audit


@contextmanager
def hooked(*files: ModuleType) -> Iterator[FakeSession]:
    """These files of capture/ installed. Nothing of them may have failed, and nothing is left of them afterwards."""
    session = FakeSession()
    for each in files:
        each.install(session)
    try:
        yield session
        for finish in session.on_finish:
            finish()
        assert not session.switch.broken, "\n".join(session.switch.broken.values())
    finally:
        session.switch.undo()
