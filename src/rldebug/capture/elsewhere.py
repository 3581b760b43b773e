"""Environments that the program's own processes step, while another process learns from what they bring.

The process that steps them tells what it sees, through a ring; the one that learns hears it before it looks at what was
brought, and logs it as if the environments were its own. Nobody listens who steps environments himself, or who does not
learn; and nobody tells who learns himself: such a process is judged alone.
"""

from __future__ import annotations

import functools
import json
import pickle
import threading
import time
from collections.abc import Callable
from multiprocessing import connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from rldebug.capture.env_log import EnvLog
from rldebug.capture.env_stream import Stream
from rldebug.capture.ring import Ring

if TYPE_CHECKING:
    from rldebug.capture.session import Session

GROUP = "threads"
_PAUSE = 0.3  # seconds between two looks at the weights of those who act
FILE = "steps"  # in the folder of the process that tells


# ── in the process that steps ───────────────────────────────────────────────────────────────────────────────────────


class Teller:
    """Before a log: what environments tell it is told to the other process too."""

    def __init__(self, session: Session, ring: Ring) -> None:
        self.log = session.log
        self._session = session
        self._ring: Ring | None = ring
        self._facts: dict[int, dict[str, Any]] = {}  # of streams, as they were told
        self._missing = False
        self._looked = 0.0
        self._lock = threading.Lock()

    def reset(self, env: Any, obs: Any, seed: Any, lanes: int, mask: Any = None) -> None:
        self.log.reset(env, obs, seed, lanes, mask)
        stream = self.log.stream_of(env)
        self._tell(stream, "reset", (obs, seed, mask))
        if stream is not None and stream.aliased:
            self._tell(stream, "aliased", (stream.aliased,))  # what is sent is a copy
        if time.monotonic() - self._looked > _PAUSE and (acting := self._session.acting()):
            self._tell(stream, "weights", (_mark(acting),))
            self._looked = time.monotonic()

    def step(self, env: Any, *told: Any) -> None:
        self.log.step(env, *told)
        self._tell(self.log.stream_of(env), "step", told)

    def quick_step(self, env: Any, stream: Stream, *told: Any) -> None:
        self.log.quick_step(env, stream, *told)
        self._tell(stream, "step", told[:-1])

    def __getattr__(self, name: str) -> Any:
        return getattr(self.log, name)

    def _tell(self, stream: Stream | None, what: str, told: tuple[Any, ...]) -> None:
        if self._ring is None or stream is None:
            return
        if self._session.updates:
            self._ring = None  # it learns
            return
        with self._lock:
            try:
                if stream.index not in self._facts or (what == "reset" and stream.facts != self._facts[stream.index]):
                    self._facts[stream.index] = dict(stream.facts)
                    facts = json.loads(json.dumps(stream.facts, default=str))
                    self._write("new", stream.index, (stream.name, stream.kind, stream.lanes, stream.autoreset, facts))
                self._write(what, stream.index, tuple(_plain(each) for each in told))
            except Exception:
                self._ring = None  # what cannot be sent, or no file: the log here goes on

    def _write(self, what: str, index: int, told: Any) -> None:
        assert self._ring is not None
        if self._missing:
            self._missing = not self._ring.write(pickle.dumps(("missing", index, None)))
        self._missing = self._missing or not self._ring.write(pickle.dumps((what, index, told), protocol=5))


def _mark(networks: list[nn.Module]) -> int:
    """Another one when a weight changes."""
    with torch.no_grad():
        return hash(tuple(float(each.double().sum()) for network in networks for each in network.parameters()))


def _plain(value: Any) -> Any:
    """As it can be sent, and understood without the classes of this process."""
    if isinstance(value, torch.Tensor):
        return value.detach().cpu().numpy()
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if type(value).__module__ not in ("builtins", "numpy"):
        raise TypeError(type(value).__name__)
    return value


# ── in the process that learns ──────────────────────────────────────────────────────────────────────────────────────


class Elsewhere:
    """Stands in the log for an environment of another process."""


class Listener:
    def __init__(self, session: Session) -> None:
        self.session = session
        self._rings: list[Ring] = []
        self._files: list[Path] = []
        self._envs: dict[tuple[int, int], Elsewhere] = {}
        self._heard = 0  # calls that were logged from here
        self._received = False  # the program has received something from a process
        self._lock = threading.Lock()

    @property
    def _log(self) -> EnvLog:
        return self.session.log

    def expect(self, folder: Path) -> None:
        """A process that is about to be started, and records there."""
        folder.mkdir(parents=True, exist_ok=True)
        self._rings.append(Ring(folder / FILE, make=True))
        self._files.append(folder / FILE)

    def received(self) -> None:
        self._received = True
        # In an audit it is heard when a network is called, so that all who were stepped together come together.
        if self.session.audit is None:
            self.hear()

    def stepped(self) -> None:
        """The program may have what it learns from in memory that it shares with others."""
        if self._rings and (self.session.audit is not None or not self._received):
            self.hear()

    def hear(self) -> None:
        if not self._rings or self._log.calls > self._heard or not self._lock.acquire(blocking=False):
            return
        try:
            for process, ring in enumerate(self._rings):
                for record in ring.read():
                    self._take(process, *pickle.loads(record))
        finally:
            self._lock.release()

    def close(self) -> None:
        for each in self._files:
            each.unlink(missing_ok=True)

    def _take(self, process: int, what: str, index: int, told: Any) -> None:
        env = self._envs.get((process, index))
        if what == "missing":
            for (each, _), known in self._envs.items():
                if each == process and (stream := self._log.stream_of(known)) is not None:
                    stream.current = [None] * stream.lanes
        elif what == "new" and env is None:
            name, kind, lanes, autoreset, facts = told
            env = self._envs[process, index] = type(name, (Elsewhere,), {})()
            self._log.new(env, kind, lanes, autoreset, {**facts, "elsewhere": process})
        elif env is not None and (stream := self._log.stream_of(env)) is not None:
            if what == "new":
                stream.facts.update(told[-1])
                return
            if what == "weights":
                self._saw_weights(stream, told[0])
                return
            if what == "aliased":
                stream.aliased = told[0]
                return
            self._heard += 1
            if what == "reset":
                obs, seed, mask = told
                self._log.reset(env, obs, seed, stream.lanes, mask)
            else:
                self._log.step(env, *told)

    def _saw_weights(self, stream: Stream, mark: int) -> None:
        """How often those who act there were looked at, and when they were first and last, in optimizer steps here;
        whether their weights have ever changed."""
        now = self.session.updates
        known = stream.facts.setdefault("actors", {"looks": 0, "first": now, "changed": False, "mark": mark})
        known["looks"] += 1
        known["last"] = now
        known["changed"] = known["changed"] or known["mark"] != mark


def listen(session: Session) -> Listener:
    listener = Listener(session)
    session.on_finish.append(listener.close)
    session.switch.replace(
        GROUP, connection.Connection, "_recv_bytes", lambda original: _receive(original, session, listener)
    )
    return listener


def _receive(original: Callable[..., Any], session: Session, listener: Listener) -> Any:
    @functools.wraps(original)
    def recv_bytes(self: Any, *args: Any) -> Any:
        received = original(self, *args)
        session.switch.guard(GROUP, listener.received)
        return received

    return recv_bytes
