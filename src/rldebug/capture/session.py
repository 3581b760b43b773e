"""Session: watches the program that runs in this process. Cuts it into phases, and audits some of them.
 A phase is acting followed by at least one optimizer step; it ends at the first call of an environment after a step.
The first phases that contain updates are audited, then as many as the budget allows, ever further apart. Between
audits the hooks only count.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from torch import nn

from rldebug.capture import backward
from rldebug.capture.elsewhere import Elsewhere
from rldebug.capture.env_log import EnvLog
from rldebug.capture.living import living
from rldebug.capture.matching import Matcher
from rldebug.capture.networks import Networks
from rldebug.capture.recording import SEEN, Recording
from rldebug.capture.registry import Registry
from rldebug.capture.scouting import Scout
from rldebug.capture.switch import Switchboard
from rldebug.capture.timer import Timer
from rldebug.capture.told import described, finite
from rldebug.evidence.crash import Crash
from rldebug.evidence.script import Event, encode_audit

_FIRST = 3  # phases with updates that are audited whatever they cost
_JOINED = 2  # phases that are audited in any case when an optimizer joins after those: a second sitting, a next stage
_JOINS = 2  # so often
_KEPT = 48  # audits on disk; when there are more, every other one of the older ones is taken away
_WINDOW = 16  # env calls that an audit spans at least: a phase of DQN is a single one
_UPDATES = 12  # updates that an audit spans at least where there is no environment
_QUEUED = 16  # updates that an audit spans at most where threads act ahead of the learner
_LEARNED = 4  # of them, that learn from steps taken within it
_FEW = 4  # updates, after which sampling again ends it
_SEEN_FIRST = 512  # updates that the first audit looks at; those after it look at SEEN since the last new loss
_WRITTEN = 64  # updates that it spans at most, where the program samples what it learns from
_GRACE = 1.0  # seconds that audits may take in any case: short programs are to be seen too
_NOTES = 256  # of one kind
_NEVER = 1 << 62
_EVALUATIONS = 6  # audits of what is played and not learned from
_IN_TURN = 63  # environments that are played in turn in an evaluation, beside the first
_BEGUN = 24  # env calls after which what lives while it is played is looked at
_PLAYED = 400  # env calls that one of them spans at most
_LEFT_ALONE = 50  # env calls without an update, and twice as many as ever before: the program has gone over to playing
_TELL_EVERY = 20.0  # seconds between two tellings of streams, modules and counts: kill -9 loses at most that


@dataclass(frozen=True)
class Options:
    overhead_budget: float = 0.015  # of the program's time may go into the start, audits and readings
    without: tuple[str, ...] = ()
    graph: bool = False  # the graph of an early update was asked for: it is to be judged too, not only drawn
    late: bool = False  # the program was under way when it began: what was made and seeded before was not seen


_current: Session | None = None  # the one that has its hooks in this process


def current() -> Session | None:
    """Who watches this process, if anybody does; a forked one has to be watched anew."""
    return _current if _current is not None and _current.pid == os.getpid() else None


class Session:
    def __init__(self, folder: Path, options: Options | None = None) -> None:
        self.folder, self.options = folder, options or Options()
        self.switch = Switchboard(self.options.without)
        self.registry = Registry()
        self.log = EnvLog(lambda: (self.phase, self.updates), self._env_called)
        self.told: Any = self.log  # what environments tell; another may stand before it
        self._timer = Timer()  # of audits
        self._elsewhere = 0.0  # seconds: the start, and readings
        self.log.timed = self._timer
        self.log.failed = lambda: self.switch.failed("environments")
        self.matcher = Matcher(self.log)
        self.networks = Networks(self)
        self.audit: Recording | None = None
        self.phase = 0
        self.updates = 0
        self.audits = 0
        self.warned: list[Crash] = []
        self.just_acted_on: int | None = None  # the env call after which a network was last called to act
        self.on_audit: list[Callable[[Recording], None]] = []  # called before an audit is written
        self.on_play: list[Callable[[Recording], None]] = []  # and some calls after an evaluation has begun
        self.on_event: list[Callable[[Event], None]] = []
        self.on_finish: list[Callable[[], None]] = []
        self.follower: Any = None  # makes readings of what is seen, see follow.py
        self.declared: dict[str, Any] = {}  # what the program, or who joined, says of itself
        self.listener: Any = None  # to what processes that the program has started do, see elsewhere.py
        self.looks: Any = None  # at what networks are given, see looks.py
        self.on_look: Callable[[], None] | None = None  # between phases, in the program's own thread
        # In a process that the program has started, with its folder and options: gives what is to be called at its end.
        self.watch_child: Callable[[tuple[str, float, tuple[str, ...]]], Callable[[], None]] | None = None
        self.started = time.monotonic()
        self._evaluations = 0
        self._began = -1  # env calls before this phase
        self._longest = 0  # env calls in the longest phase so far
        self._played_on = _LEFT_ALONE  # env calls after which a phase is no longer one of learning
        self._learner = 0  # the thread in which one did
        self._stepped = False  # an optimizer has stepped since the last call of an environment
        self._next_audit = 0  # phase
        self._owed = 0  # audits that are made whatever they cost
        self._joins = 0
        self._next_update = 0  # where there is no environment
        self._drawn = False  # something was sampled since the last update
        self._draws = 0  # audits that began with sampling
        self._seen = _SEEN_FIRST  # updates that an audit looks at
        self._due = False  # the next audit begins as soon as something is sampled
        self._writing = False  # this one did
        self._scout = Scout(self, self._begin, lambda: self._timer.spent)
        self._noted: dict[str, int] = {}
        self._modules: dict[str, dict[str, Any]] = {}
        self._told = self.started
        self._named: set[str] = set()  # networks that were told
        self._file: IO[str] | None = None
        self.pid = os.getpid()
        self._lock = threading.RLock()

    def install(self) -> None:
        global _current
        from rldebug.capture.shelf import install_all

        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "audits").mkdir(exist_ok=True)
        self._file = (self.folder / "script.jsonl").open("a", encoding="utf-8")
        _current = self
        install_all(self)
        self._begin()

    def finish(self) -> None:
        """Write what is under way, and take every hook away."""
        global _current
        if os.getpid() != self.pid:
            return
        if _current is self:
            _current = None
        if self.audit is not None:
            self._end()
        for each in self.on_finish:
            self._safely("finish", each)
        self.networks.end()
        self.switch.undo()
        self._safely("telling", self.tell)
        if self._file is not None:
            file, self._file = self._file, None
            file.close()

    # ── what the hooks call ─────────────────────────────────────────────────────────────────────────────────────────

    @property
    def spent(self) -> float:
        """Seconds that went into the start, audits and readings; what the hooks take between audits is not in it."""
        return self._timer.spent + self._elsewhere

    def took(self, seconds: float) -> None:
        """Something else than an audit did."""
        self._elsewhere += seconds

    def within_budget(self) -> bool:
        """Whether there may be another audit. What the rest takes comes first; but some there are in any case."""
        budget = self.options.overhead_budget
        return budget > 0 and self._timer.spent <= max(budget * time.process_time() - self._elsewhere, _GRACE)

    @property
    def env_calls(self) -> int:
        return self.log.calls

    def timed(self) -> Timer:
        """What a hook takes is counted against the budget."""
        return self._timer

    def stepped(self) -> None:
        """After every optimizer step."""
        if self.audit is not None and self.audit.evaluation is not None:
            self._end()
        self.updates += 1
        self._stepped = True
        self._learner = threading.get_ident()
        self.log.wake_at = 0
        if self.audit is not None:
            self.audit.steps += 1
            if self.log.calls and self.audit.steps >= self._seen:
                self.audit.cut = True
                self._end()
            elif not self.log.calls and self.audit.steps >= (_WRITTEN if self._writing else _UPDATES):
                self._end_without_environment()
        elif not self.log.calls and self.updates >= self._next_update and self._affordable():
            if self._drawn or self._draws:
                self._due = True
            else:
                self._begin()
        self._drawn = False
        if self.listener is not None:
            self._safely("listening", self.listener.stepped)

    def joined(self) -> None:
        """An optimizer steps for the first time. What a program makes and trains later on is to be seen at its start as
        well, also where the budget is spent: the model that was loaded, the agent of the next stage."""
        seen = self.audit is not None and self.audit.evaluation is None
        if seen or self.audits < _FIRST or self._owed or self._joins >= _JOINS or not self.options.overhead_budget:
            return
        self._joins += 1
        self._owed, self._next_audit = _JOINED, self.phase

    def drew(self) -> None:
        """Before something is sampled. A program without environment writes what it learns from: it is looked at from
        there on, through some updates, until it writes again."""
        if self._drawn or self.log.calls:
            return
        self._drawn = True
        self._safely("sampling", self._begin_with_sampling)

    def _begin_with_sampling(self) -> None:
        audit = self.audit
        if audit is not None and audit.steps == 0:
            self._draws += not self._writing
            self._writing = True
        elif audit is not None and (audit.steps >= _FEW or not self._writing):
            self._end_without_environment()
        if self.audit is None and (self._due or self._draws < _FIRST):
            self._draws += 1
            self._writing, self._due = True, False
            self._begin()

    def _end_without_environment(self) -> None:
        self._end()
        self._writing = False
        self._next_update = self.updates + max(_UPDATES, self.updates // 8)
        self._look()

    def look_soon(self) -> None:
        """Audit the next phase, where the budget allows it."""
        self._next_audit = min(self._next_audit, self.phase)

    def called(self, name: str, module: Any, *, acting: bool, grad: bool, rows: int) -> None:
        seen = self._modules.setdefault(name, {"calls": 0, "acting": 0, "trained": 0, "eval_acting": 0})
        seen["calls"] += 1
        seen["acting"] += acting
        seen["trained"] += rows if grad and not acting else 0

    def acting(self) -> list[nn.Module]:
        """Networks that were seen to act, and still are there."""
        return [each for name, each in self.registry.living() if self._modules.get(name, {}).get("acting")]

    def note(self, kind: str, /, **detail: Any) -> None:
        with self._lock:
            count = self._noted[kind] = self._noted.get(kind, 0) + 1
            if count <= _NOTES:
                self._write({"kind": kind, "update": self.updates, "env_step": self.log.steps, **detail})

    def thing(self, kind: str, key: str, /, **detail: Any) -> None:
        with self._lock:
            self._write({**detail, "thing": kind, "key": key})

    # ── phases ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def _heard(self, event: Event) -> None:
        for each in self.on_event:
            self._safely("following", each, event)

    def _env_called(self, env: Any) -> None:
        """Before an env call is logged. An actor in a thread of its own does not know where an update ends."""
        self._meet(env)
        # Until something changes, or the program has gone over to playing, the log need not ask again.
        began = self._began + self._played_on
        self.log.wake_at = (began if self.log.calls < began else _NEVER) if self.audit is None else 0
        if self.looks is not None:
            self.log.wake_at = min(self.log.wake_at, self.looks.met(self.log.calls))

    def _meet(self, env: Any) -> None:
        audit = self.audit
        if audit is not None and audit.evaluation is not None:
            if self.log.calls - audit.first_call >= _PLAYED or not self._played_too(audit, env):
                self._end()
            elif self.log.calls - audit.first_call == _BEGUN:  # at its end the environment may be gone
                for each in self.on_play:
                    self._safely("evaluation", each, audit)
        elif audit is None and self.updates and not isinstance(env, Elsewhere) and self._is_evaluation(env):
            self._begin(evaluation=env)
            self._evaluations += 1
        if not self._stepped:
            return
        self._stepped = False
        self.phase += 1
        self._longest, self._began = max(self._longest, self._phase_calls), self.log.calls
        self._played_on = max(_LEFT_ALONE, 2 * self._longest)
        audit = self.audit
        if audit is not None:
            if audit.steps and self.log.calls - audit.first_call >= _WINDOW and not self._queued(audit):
                self._end()
                self._look()
        elif self.phase >= self._next_audit:
            if self._owed or self._affordable():
                self._look()
                self._begin()
            else:
                self._next_audit = self.phase + self.phase // 64  # to ask takes time too
                self._look_for_ends()
        elif self.phase >= self._scout.next:
            self._look_for_ends()

    def _queued(self, audit: Recording) -> bool:
        """What threads did waits in a queue, and is learned from some updates later: until then the audit goes on."""
        if threading.get_ident() == self._learner or audit.steps >= _QUEUED:
            return False
        learned = set()
        for event in list(audit.events):
            rows = event.arrays.get("rows", ()) if event.kind == "term" else ()
            if 2 * np.count_nonzero(np.asarray(rows) >= audit.first_node) > len(rows):
                learned.add(event.update)
        return len(learned) < _LEARNED

    @property
    def _phase_calls(self) -> int:
        return self.log.calls - self._began

    def _is_evaluation(self, env: Any) -> bool:
        """An environment that is new, or was left alone for a while; or one played for long without learning."""
        stream = self.log.stream_of(env)
        known = stream is not None and (stream is self.log.newest or stream.phase >= self.phase - 1)
        # One that resets itself is reset by the program where it is used for something else in between.
        if known and self.log.resetting and stream is not None and stream.autoreset != "disabled" and stream.steps:
            known = False
        if known and self._phase_calls != self._played_on:
            return False  # nearly always; what follows takes longer
        if self._evaluations >= 2 or not self.options.overhead_budget:
            return self._evaluations < _EVALUATIONS and self._affordable()
        return True

    def _played_too(self, audit: Recording, env: Any) -> bool:
        """The environment of the evaluation that is looked at, or one of a list that is played in turn with it."""
        if env is audit.evaluation or any(env is each for each in audit.beside):
            return True
        stream = self.log.stream_of(env)
        left_alone = stream is None or (stream is not self.log.newest and stream.phase < self.phase - 1)
        if isinstance(env, Elsewhere) or not left_alone or len(audit.beside) >= _IN_TURN:
            return False
        audit.beside.append(env)
        return True

    def _affordable(self) -> bool:
        return self.audits < _FIRST or self.within_budget()

    def _look_for_ends(self) -> None:
        if self.audits >= _FIRST and self.options.overhead_budget > 0:
            self._scout.look()

    def is_worth_it(self) -> bool:
        """Before the first loss of an audit that began for the sake of an end: there was one, or it is dropped."""
        audit = self.audit
        if audit is None or audit.scouts_for is None:
            return audit is not None
        if not self._scout.found(audit):
            self._drop(audit)
            return False
        audit.heard = self._heard
        for each in audit.events:
            self._heard(each)
        return True

    def _drop(self, audit: Recording) -> None:
        with self.timed():
            self.networks.end()
            self.audit = None
            self.log.lazy = True
        self._scout.dropped(audit)

    def _begin(self, evaluation: Any = None) -> None:
        if os.getpid() != self.pid or self._file is None:
            return
        with self.timed():
            self.log.lazy = False
            self.log.flush()
            self.audit = Recording(
                self.audits, self.phase, self.updates, self.log.steps, self.log, self.matcher, lambda: self.updates
            )
            self.audit.evaluation = evaluation
            self.audit.heard = self._heard
            self.audit.first_call = self.log.calls
            current = self.log.current()
            self.audit.first_node = min((each.id for each in current), default=self.log.next_id)
            self.networks.begin()
            if not self.audits and self.switch.on("backward"):
                backward.lines_wanted(True)  # it stops by itself, after one update

    def _end(self) -> None:
        audit = self.audit
        if audit is None:
            return
        if audit.scouts_for is not None:
            self._drop(audit)  # no loss was seen in it
            return
        with self.timed():
            self.networks.end()
            for each in self.on_audit:
                self._safely("audit", each, audit)
            self.audit = None
            self.log.lazy = True
            self.audits += 1
            # Ever further apart: a long program is seen at its start, and again whenever it has grown by an eighth.
            if audit.evaluation is None:
                if audit.steps:  # the first has shown how long it takes until each loss has had its turn
                    self._seen = audit.newest + SEEN
                self._owed = max(self._owed - 1, 0)
                soon = self.audits < _FIRST or self._owed
                self._next_audit = self.phase if soon else self.phase + max(1, self.phase // 8)
            if self.audits == _FIRST:
                self._safely("looking for copies", self._find_copies)
            self._count_learned(audit)
            self._safely("writing an audit", self._write_audit, audit)
            # A network that is not told now may be gone by the next time.
            new = any(name not in self._named for name, _ in self.registry.living())
            if time.monotonic() - self._told > _TELL_EVERY or self.audits <= _FIRST or new:
                self._safely("telling", self.tell)

    def _count_learned(self, audit: Recording) -> None:
        rows = (row for event in audit.events if event.kind == "term" for row in event.arrays.get("rows", ()))
        learned = [node for row in rows if (node := self.log.get(int(row))) is not None]
        for node in learned:
            self.log.streams[node.stream].learned += 1
        self._scout.saw(audit, learned)

    def _find_copies(self) -> None:
        """Networks shaped like one that learns, which nobody has called yet: a target kept up and never used."""
        shapes = {_shapes(module) for _, module in self.registry.living()}
        networks: dict[type, bool] = {}  # there are a million objects, and few types
        for each in living() or ():
            # By type: isinstance would ask objects that answer with a warning, or an import.
            kind = type(each)
            if kind not in networks:
                networks[kind] = issubclass(kind, nn.Module)
            if not networks[kind] or self.registry.owners(map(id, each.parameters())):
                continue  # or a part of one that is known, or around it
            if _shapes(each) in shapes:
                self.registry.module(each)

    def _write_audit(self, audit: Recording) -> None:
        folder = self.folder / "audits"
        file = folder / f"{audit.number:05d}.npz"
        draft = folder / f"{audit.number:05d}.part"
        with draft.open("wb") as opened:
            np.savez(opened, allow_pickle=False, **encode_audit(audit.finish()))
        draft.replace(file)
        files = sorted(folder.glob("*.npz"))
        if len(files) > _KEPT:
            for each in files[8 : len(files) - 8 : 2]:
                each.unlink()

    def _look(self) -> None:
        if self.on_look is not None:
            self.on_look()  # not sandboxed: it may end the program, as its user has asked

    # ── writing ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def tell(self) -> None:
        """Everything that is counted, as it is now."""
        self._told = time.monotonic()
        self.log.flush()
        for stream in self.log.streams[:64]:
            self.thing("stream", str(stream.index), **stream.describe())
        for name, module in self.registry.living():
            self.thing("module", name, **described(self.registry, name, module), **self._modules.get(name, {}))
            self._named.add(name)
        self.thing(
            "counts",
            "all",
            updates=self.updates,
            env_steps=self.log.steps,
            env_calls=self.log.calls,
            phases=self.phase,
            audits=self.audits,
            streams=len(self.log.streams),
            late=self.options.late,
            episodes=sum(each.finished for each in self.log.streams),
            seconds=round(time.monotonic() - self.started, 3),
            spent=round(self.spent, 3),
            broken=self.switch.broken,
            off=sorted(self.options.without),
        )

    def _write(self, line: dict[str, Any]) -> None:
        if self._file is None or os.getpid() != self.pid:
            return
        try:
            self._file.write(json.dumps(finite(line), separators=(",", ":"), default=str, allow_nan=False) + "\n")
            self._file.flush()  # the kernel has it now: kill -9 loses nothing that was flushed
        except (OSError, ValueError):
            self.switch.failed("writing")
            self._file = None

    def _safely(self, what: str, call: Callable[..., Any], *args: Any) -> None:
        try:
            call(*args)
        except Exception:
            self.switch.failed(what)


def _shapes(module: nn.Module) -> tuple[Any, ...]:
    return tuple(tuple(each.shape) for each in module.parameters()) or (id(module),)
