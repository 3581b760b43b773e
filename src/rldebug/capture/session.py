"""Session: watches the program that runs in this process. Cuts it into phases, and audits some of them.
 A phase is acting followed by at least one optimizer step; it ends at the first call of an environment after a step.
The first phases that contain updates are audited, then as many as the budget allows, ever further apart. Between
audits the hooks only count.
"""

from __future__ import annotations

import gc
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from torch import nn

from rldebug.capture import backward
from rldebug.capture.env_log import EnvLog
from rldebug.capture.matching import Matcher
from rldebug.capture.networks import Networks
from rldebug.capture.recording import Recording
from rldebug.capture.registry import Registry
from rldebug.capture.switch import Switchboard
from rldebug.evidence.script import Event, encode_audit

_FIRST = 3  # phases with updates that are audited whatever they cost
_KEPT = 48  # audits on disk; when there are more, every other one of the older ones is taken away
_WINDOW = 16  # env calls that an audit spans at least: a phase of DQN is a single one
_UPDATES = 12  # updates that an audit spans at least where there is no environment
_GRACE = 0.3  # seconds that audits may take on top of the budget, so that short programs are seen too
_NOTES = 256  # of one kind
_EVALUATIONS = 6  # audits of what is played and not learned from
_PLAYED = 400  # env calls that one of them spans at most
_LEFT_ALONE = 50  # env calls without an update, and twice as many as ever before: the program has gone over to playing
_TELL_EVERY = 20.0  # seconds between two tellings of streams, modules and counts: kill -9 loses at most that


@dataclass(frozen=True)
class Options:
    overhead_budget: float = 0.03  # of the wall clock may go into audits
    without: tuple[str, ...] = ()


class Session:
    def __init__(self, folder: Path, options: Options | None = None) -> None:
        self.folder, self.options = folder, options or Options()
        self.switch = Switchboard(self.options.without)
        self.registry = Registry()
        self.log = EnvLog(lambda: (self.phase, self.updates), self._env_called)
        self.log.failed = lambda: self.switch.failed("environments")
        self.matcher = Matcher(self.log)
        self.networks = Networks(self)
        self.audit: Recording | None = None
        self.phase = 0
        self.updates = 0
        self.audits = 0
        self.just_acted_on: int | None = None  # the env call after which a network was last called to act
        self.on_audit: list[Callable[[Recording], None]] = []  # called before an audit is written
        self.on_event: list[Callable[[Event], None]] = []
        self.on_finish: list[Callable[[], None]] = []
        self.on_look: Callable[[], None] | None = None  # between phases, in the program's own thread
        self.spent = 0.0  # seconds in audits
        self.started = time.monotonic()
        self._depth = 0
        self._evaluations = 0
        self._phase_calls = self._longest = 0  # env calls in this phase, and in the longest so far
        self._stepped = False  # an optimizer has stepped since the last call of an environment
        self._next_audit = 0  # phase
        self._next_update = 0  # where there is no environment
        self._noted: dict[str, int] = {}
        self._modules: dict[str, dict[str, Any]] = {}
        self._told = self.started
        self._file: IO[str] | None = None
        self._pid = os.getpid()
        self._lock = threading.RLock()

    def install(self) -> None:
        from rldebug.capture.shelf import install_all

        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "audits").mkdir(exist_ok=True)
        self._file = (self.folder / "script.jsonl").open("a", encoding="utf-8")
        install_all(self)
        self._begin()

    def finish(self) -> None:
        """Write what is under way, and take every hook away."""
        if os.getpid() != self._pid:
            return
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
    def env_calls(self) -> int:
        return self.log.calls

    @contextmanager
    def timed(self) -> Iterator[None]:
        """What a hook takes is counted against the budget."""
        if self._depth:
            yield
            return
        self._depth += 1
        start = time.thread_time()  # not the wall clock: others may be using this machine too
        try:
            yield
        finally:
            self.spent += time.thread_time() - start
            self._depth -= 1

    def stepped(self) -> None:
        """After every optimizer step."""
        if self.audit is not None and self.audit.evaluation is not None:
            self._end()
        self.updates += 1
        self._stepped = True
        if self.audit is not None:
            self.audit.steps += 1
            if not self.log.calls and self.audit.steps >= _UPDATES:
                self._end()
                self._next_update = self.updates + max(_UPDATES, self.updates // 8)
                self._look()
        elif not self.log.calls and self.updates >= self._next_update and self._affordable():
            self._begin()

    def called(self, name: str, module: Any, *, acting: bool, grad: bool, rows: int) -> None:
        seen = self._modules.setdefault(name, {"calls": 0, "acting": 0, "trained": 0, "eval_acting": 0})
        seen["calls"] += 1
        seen["acting"] += acting
        seen["trained"] += rows if grad and not acting else 0

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
        self._phase_calls += 1
        audit = self.audit
        if audit is not None and audit.evaluation is not None:
            if env is not audit.evaluation or self.log.calls - audit.first_call >= _PLAYED:
                self._end()
        elif audit is None and self.updates and self._is_evaluation(env):
            self._begin(evaluation=env)
            self._evaluations += 1
        if not self._stepped:
            return
        self._stepped = False
        self.phase += 1
        self._longest, self._phase_calls = max(self._longest, self._phase_calls), 0
        audit = self.audit
        if audit is not None:
            if audit.steps and self.log.calls - audit.first_call >= _WINDOW:
                self._end()
                self._look()
        elif self.phase >= self._next_audit and self._affordable():
            self._look()
            self._begin()

    def _is_evaluation(self, env: Any) -> bool:
        """An environment that is new, or was left alone for a while; or one played for long without learning."""
        stream = self.log.stream_of(env)
        known = stream is not None and (stream is self.log.newest or stream.phase >= self.phase - 1)
        if known and self._phase_calls != max(_LEFT_ALONE, 2 * self._longest):
            return False  # nearly always; what follows takes longer
        if self._evaluations >= 2 or not self.options.overhead_budget:
            return self._evaluations < _EVALUATIONS and self._affordable()
        return True

    def _affordable(self) -> bool:
        if self.audits < _FIRST:
            return True
        budget = self.options.overhead_budget
        return budget > 0 and self.spent <= budget * time.process_time() + _GRACE

    def _begin(self, evaluation: Any = None) -> None:
        if os.getpid() != self._pid or self._file is None:
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
        with self.timed():
            self.networks.end()
            for each in self.on_audit:
                self._safely("audit", each, audit)
            self.audit = None
            self.log.lazy = True
            self.audits += 1
            # Ever further apart: a long program is seen at its start, and again whenever it has grown by an eighth.
            if audit.evaluation is None:
                self._next_audit = self.phase if self.audits < _FIRST else self.phase + max(1, self.phase // 8)
            if self.audits == _FIRST:
                self._safely("looking for copies", self._find_copies)
            self._count_learned(audit)
            self._safely("writing an audit", self._write_audit, audit)
            if time.monotonic() - self._told > _TELL_EVERY or self.audits <= _FIRST:
                self._safely("telling", self.tell)

    def _count_learned(self, audit: Recording) -> None:
        for event in audit.events:
            if event.kind == "term":
                for row in event.arrays.get("rows", ()):
                    node = self.log.get(int(row))
                    if node is not None:
                        self.log.streams[node.stream].learned += 1

    def _find_copies(self) -> None:
        """Networks shaped like one that learns, which nobody has called yet: a target kept up and never used."""
        shapes = {_shapes(module) for _, module in self.registry.living()}
        networks: dict[type, bool] = {}  # there are a million objects, and few types
        for each in gc.get_objects():
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
            self.thing("module", name, **self._describe(name, module))
        self.thing(
            "counts",
            "all",
            updates=self.updates,
            env_steps=self.log.steps,
            env_calls=self.log.calls,
            phases=self.phase,
            audits=self.audits,
            streams=len(self.log.streams),
            episodes=sum(each.finished for each in self.log.streams),
            seconds=round(time.monotonic() - self.started, 3),
            spent=round(self.spent, 3),
            broken=self.switch.broken,
            off=sorted(self.options.without),
        )

    def _describe(self, name: str, module: Any) -> dict[str, Any]:
        owners: dict[str, int] = {}
        own = {id(each) for each in module.parameters()}
        for key, reference in self.registry.optimizers.items():
            optimizer = reference()
            if optimizer is not None:
                count = sum(id(each) in own for group in optimizer.param_groups for each in group["params"])
                if count:
                    owners[key] = count
        layers: dict[str, int] = {}
        last = ""
        for each in module.modules():
            if next(each.children(), None) is None:
                last = type(each).__name__
                layers[last] = layers.get(last, 0) + 1
        inside = next(
            (
                other
                for other, each in self.registry.living()
                if each is not module and any(part is module for part in each.modules())
            ),
            None,
        )
        parameters = list(module.parameters())
        return {
            "class": type(module).__name__,
            "label": self.registry.labels.get(name, ""),
            "parameters": sum(each.numel() for each in parameters),
            "tensors": len(parameters),
            "trainable": sum(each.requires_grad for each in parameters),
            "owners": owners,
            "layers": layers,
            "last": last,
            "inside": inside,
            "line": self.registry.lines.get(name),
            "training": module.training,
            **self._modules.get(name, {}),
        }

    def _write(self, line: dict[str, Any]) -> None:
        if self._file is None or os.getpid() != self._pid:
            return
        try:
            self._file.write(json.dumps(_finite(line), separators=(",", ":"), default=str, allow_nan=False) + "\n")
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


def _finite(value: Any) -> Any:
    """JSON knows no NaN."""
    if isinstance(value, float):
        return value if value - value == 0.0 else str(value)
    if isinstance(value, dict):
        return {str(key): _finite(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(each) for each in value]
    if isinstance(value, np.generic):
        return _finite(value.item())
    return value
