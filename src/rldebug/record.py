"""Recorder: metrics on a schedule, one device transfer per recorded update, append-only on disk."""

from __future__ import annotations

import json
import os
import platform
import shutil
import socket
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
import torch
from torch import Tensor

from rldebug import catalogue
from rldebug.evidence.ranks import told_by_launcher
from rldebug.evidence.run import FORMAT, Reading, encode
from rldebug.finding import Finding
from rldebug.metric import EACH, Metric

_WORD = 2**64 - 1
_TABLE_ROWS = 64  # of a table, the rest is left out: a run folder must stay small whatever the network


@dataclass
class Schedule:
    """Which updates are recorded: densely at first, later one in `every`; one in `detail` with costly metrics.

    Early on the gap is a thirty-second of the updates so far: short runs are seen well, long runs cost little.
    Deterministic, and never in step with the loop it watches: a PPO with 16 updates per rollout, sampled every 16th,
    would only ever show its first minibatch. The gap doubles whenever the file has grown by `doubling` bytes, so a run
    of any length stays small. While a trap is set every update is looked at, and those that are due are kept.
    """

    every: int = 96
    detail: int = 64
    lookout: bool = False
    early: int = 32  # the gap is this part of the updates so far, until it is `every`
    doubling: int = 3_000_000
    written: int = 0
    _count: int = 0
    _next: int = 0
    _next_first: int = 0
    _next_detail: int = 0
    _next_layers: int = 0
    _layers_at: int = -1
    _debt: int = 0

    def due(self, update: int, first_of_rollout: bool) -> bool:
        """A pure look; two calls before `took` agree. First minibatches have a clock of their own."""
        return self.lookout or self.keeps(update, first_of_rollout)

    def due_detail(self, update: int) -> bool:
        return self.lookout or update >= self._next_detail

    def due_layers(self, update: int) -> bool:
        """Whether each layer is looked at by itself: whenever the run has grown by an eighth, so a hundred times in a
        million updates. A look, also at the update taken last: its steps may come later."""
        return update >= self._next_layers or update == self._layers_at

    def keeps(self, update: int, first_of_rollout: bool) -> bool:
        """Whether what is taken of this update is to be kept; a look."""
        return update >= self._next or (first_of_rollout and update >= self._next_first)

    def call(self, update: int) -> None:
        """This update is due, whatever the clock says: there is something to see in it."""
        self._next = min(self._next, update)

    def put_off(self, update: int) -> None:
        """Not now: there is no time for it."""
        later = update + min(max(update // self.early, 1), self.every)
        self._next, self._next_first = max(self._next, later), max(self._next_first, later)

    def restart(self) -> None:
        """Another clock begins, at 0."""
        self._next = self._next_first = self._next_detail = self._next_layers = self._debt = 0
        self._layers_at = -1

    def detail_gap(self, update: int) -> int:
        return min(max(update, 1), self.detail) << (self.written // self.doubling)

    def took(self, update: int, first_of_rollout: bool) -> bool:
        """Sets the clocks, and tells whether what was taken is to be kept."""
        if not self.keeps(update, first_of_rollout):
            return False
        gap = min(max(update // self.early, 1), self.every) << (self.written // self.doubling)
        self._count += 1
        jitter = int(gap * (_scattered(self._count) - 0.5)) if gap > 1 else 0
        if update >= self._next:
            self._next = update + max(gap + jitter, 1) + self._debt
            self._debt = 0
        else:
            self._debt += gap  # a first minibatch stands in for one of the others, but not for the one after it
        if first_of_rollout:
            self._next_first = update + 4 * gap
        if update >= self._next_detail:
            self._next_detail = update + self.detail_gap(update)
        if update >= self._next_layers:
            self._layers_at, self._next_layers = update, update + max(update // 8, 4)
        return True


def _scattered(count: int) -> float:
    """Between 0 and 1, the same for the same count, and without any rhythm of its own (the finaliser of splitmix64)."""
    bits = (count * 0x9E3779B97F4A7C15) & _WORD
    bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & _WORD
    return (bits ^ (bits >> 31)) / (_WORD + 1)


@dataclass
class _Pending:
    numbers: dict[str, Tensor | float] = field(default_factory=dict)
    vectors: dict[tuple[str, str], tuple[Sequence[str], Tensor]] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.numbers or self.vectors or self.facts)


class Recorder:
    """Collects what metrics return as device scalars, moves them to the host together, and appends one line."""

    def __init__(self, path: Path, meta: Mapping[str, Any], schedule: Schedule) -> None:
        self.path = path
        self.schedule = schedule
        self.broken: dict[str, str] = {}
        self.last: Reading | None = None
        self.stopped: str | None = None
        self._pending = _Pending()
        self._plans: dict[Any, list[Metric]] = {}
        self._file: IO[str] | None = None
        self._meta = dict(meta)
        self._started = time.monotonic()
        self._pid = os.getpid()
        try:
            path.mkdir(parents=True, exist_ok=True)
            self.write_meta({})
            self._file = (path / "readings.jsonl").open("a", encoding="utf-8")
        except OSError as error:
            self._stop(error)

    # ── collecting ──────────────────────────────────────────────────────────────────────────────────────────────────

    def measure(
        self, evidence: Any, *, detail: bool = False, code: bool = False, layers: bool = False, suffix: str = ""
    ) -> None:
        """Apply every metric that reads this kind of evidence. One that raises is switched off and listed."""
        pending = self._pending
        with torch.no_grad(), _full_precision():
            for metric in self._plan(evidence, detail, code, layers):
                try:
                    value = metric.compute(evidence)
                    if value is None:
                        continue
                    if metric.kind == "number":
                        values = value if isinstance(value, tuple) else (value,)
                        for name, each in zip(metric.names, values, strict=True):
                            if each is not None:
                                pending.numbers[name + suffix] = each
                    elif metric.kind == "table":
                        rows, cells = value
                        pending.vectors["tables", metric.name + suffix] = (rows[:_TABLE_ROWS], cells[:_TABLE_ROWS])
                    elif metric.kind == "histograms":
                        rows, cells = value
                        named = [f"{metric.name.removesuffix(EACH)}{each}{suffix}" for each in rows]
                        pending.vectors["histograms", metric.name + suffix] = (named, cells)
                    else:
                        key = "histograms" if metric.kind == "histogram" else "traces"
                        pending.vectors[key, metric.name + suffix] = ((), value)
                except Exception:
                    self.broken[metric.name] = traceback.format_exc()
                    self._plans.clear()

    def _plan(self, evidence: Any, detail: bool, code: bool, layers: bool) -> list[Metric]:
        """The metrics that apply: looked up, because asking each of them costs more than computing it."""
        kind = type(evidence)
        key = (kind, detail, code, layers, tuple([value is None for value in vars(evidence).values()]))
        plan = self._plans.get(key)
        if plan is None:
            plan = [
                each
                for each in catalogue.metrics_reading(kind)
                if (not each.detail or (code if each.code else layers if each.kind == "histograms" else detail))
                and each.name not in self.broken
                and all(getattr(evidence, need) is not None for need in each.needs)
            ]
            self._plans[key] = plan
        return plan

    def number(self, name: str, value: Tensor | float) -> None:
        self._pending.numbers[name] = value

    def histogram(self, name: str, cells: Tensor) -> None:
        """One that no metric gives: low, high, then the counts."""
        self._pending.vectors["histograms", name] = ((), cells)

    @property
    def facts(self) -> dict[str, Any]:
        """Facts that go with the line being collected."""
        return self._pending.facts

    # ── writing ─────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def pending(self) -> bool:
        return bool(self._pending.numbers or self._pending.vectors)

    @contextmanager
    def apart(self) -> Iterator[None]:
        """A line of its own: what is being collected goes with the next one."""
        pending, self._pending = self._pending, _Pending()
        try:
            yield
        finally:
            self._pending = pending

    def flush(self, update: int, env_step: int, keep: bool = True) -> None:
        """Move what was collected to the host, in one transfer per device, and append it."""
        pending, self._pending = self._pending, _Pending()
        if not pending or self._elsewhere():
            return
        numbers, vectors = _fetch(pending)
        parts: dict[str, dict[str, Any]] = {"tables": {}, "histograms": {}, "traces": {}}
        for (kind, name), (rows, cells) in vectors.items():
            width = len(cells) // max(len(rows), 1)
            by_row = {row: cells[i * width : (i + 1) * width] for i, row in enumerate(rows)}
            if kind == "tables":
                parts[kind][name] = by_row
            elif rows:
                parts[kind].update(by_row)
            else:
                parts[kind][name] = cells
        seconds = time.monotonic() - self._started
        self.last = Reading(update, env_step, seconds, numbers, pending.facts, **parts)
        if not keep:
            self._pending.facts = pending.facts  # they go with the next line
            return
        if self._file is None:
            return
        try:
            line = encode(self.last) + "\n"
            self._file.write(line)
            self._file.flush()  # the kernel has it now: kill -9 loses nothing that was flushed
            self.schedule.written += len(line)
        except Exception as error:
            self._stop(error)

    def _elsewhere(self) -> bool:
        """In a process forked from the one that is watched: its lines would end up among ours."""
        return os.getpid() != self._pid

    def append_finding(self, finding: Finding) -> None:
        if self.stopped is not None or self._elsewhere():
            return
        try:
            with (self.path / "findings.jsonl").open("a", encoding="utf-8") as file:
                file.write(json.dumps(finding.to_dict(), ensure_ascii=False) + "\n")
        except OSError as error:
            self._stop(error)

    def write_meta(self, more: Mapping[str, Any]) -> None:
        """run.json, replaced whole: a reader sees the old one or the new one, never half of one."""
        self._meta.update(more)
        if self.stopped is not None:
            return
        draft = self.path / "run.json.part"
        draft.write_text(json.dumps(self._meta, indent=1, ensure_ascii=False, default=str), encoding="utf-8")
        draft.replace(self.path / "run.json")

    def tell(self, **known: Any) -> None:
        """What is known by now, into run.json: a program that is killed has no end to tell it at."""
        if self._elsewhere():
            return
        try:
            self.write_meta({"seconds": self._seconds, **known})
        except Exception as error:
            self._stop(error)

    @property
    def _seconds(self) -> float:
        return round(time.monotonic() - self._started, 3)

    def snapshot(self, name: str, tensors: Mapping[str, Tensor]) -> Path | None:
        """Keep whole tensors, as .npz: never pickle."""
        if self.stopped is not None:
            return None
        file = self.path / "snapshots" / f"{name}.npz"
        try:
            file.parent.mkdir(exist_ok=True)
            arrays = {key.replace("/", "."): each.detach().float().cpu().numpy() for key, each in tensors.items()}
            np.savez(file, allow_pickle=False, **arrays)
        except OSError as error:
            self._stop(error)
            return None
        return file

    def close(self, **state: Any) -> None:
        if self._elsewhere():
            return
        try:
            self.write_meta({"seconds": self._seconds, **state})
            if self._file is not None:
                file, self._file = self._file, None
                file.close()
        except Exception as error:
            self._stop(error)

    def _stop(self, error: Exception) -> None:
        """Recording ends here; the training goes on. Said once."""
        if self._file is not None:
            file, self._file = self._file, None
            try:
                file.close()
            except OSError:
                pass  # closing flushes, and the disk is full
        if self.stopped is None:
            said = str(error) if isinstance(error, OSError) else f"{type(error).__name__}: {error}"
            self.stopped = f"recording to {self.path} stopped: {said}"
            self.broken["recorder"] = self.stopped if isinstance(error, OSError) else traceback.format_exc()
            warnings.warn(f"rldebug: {self.stopped}; the training goes on unrecorded", RuntimeWarning, stacklevel=2)


def _full_precision() -> ExitStack:
    """Metrics are computed as they are written: inside the user's autocast, products would come out as bfloat16."""
    stack = ExitStack()
    for device in ("cpu", "cuda"):
        if torch.is_autocast_enabled(device):
            stack.enter_context(torch.autocast(device, enabled=False))
    return stack


def _fetch(pending: _Pending) -> tuple[dict[str, float], dict[tuple[str, str], tuple[Sequence[str], list[float]]]]:
    """Everything on the host. CPU scalars are read in place; what lies on an accelerator comes over in one copy."""
    numbers: dict[str, float] = {}
    vectors: dict[tuple[str, str], tuple[Sequence[str], list[float]]] = {}
    away: dict[torch.device, list[tuple[Any, Tensor]]] = {}
    for name, value in pending.numbers.items():
        if not isinstance(value, Tensor):
            numbers[name] = float(value)
        elif value.is_cpu:
            numbers[name] = value.item()
        else:
            numbers[name] = float("nan")  # keeps the order; filled below
            away.setdefault(value.device, []).append((name, value))
    for key, (rows, cells) in pending.vectors.items():
        if cells.device.type == "cpu":
            vectors[key] = (rows, cells.double().reshape(-1).tolist())
        else:
            vectors[key] = (rows, [])
            away.setdefault(cells.device, []).append((key, cells))
    for tensors in away.values():
        flat = torch.cat([each.detach().reshape(-1).float() for _, each in tensors]).cpu().tolist()
        start = 0
        for key, each in tensors:
            part = flat[start : start + each.numel()]
            start += each.numel()
            if isinstance(key, str):
                numbers[key] = part[0]
            else:
                vectors[key] = (vectors[key][0], part)
    return numbers, vectors


# ── run folders ─────────────────────────────────────────────────────────────────────────────────────────────────────


def new_run_folder(root: Path, name: str) -> Path:
    """`root/name`, or `root/name-2`, `-3`, … where that is taken: a run never overwrites another. Made at once, so that
    two runs started together get two folders."""
    safe = "".join(each if each.isalnum() or each in "-_." else "-" for each in name).strip(".") or "run"
    rank = os.environ.get("RANK", "0")
    if rank not in ("", "0"):
        safe += f"-rank{rank}"
    folder, count = root / safe, 1
    try:
        root.mkdir(parents=True, exist_ok=True)
        while True:
            try:
                folder.mkdir()
                break
            except FileExistsError:
                count += 1
                folder = root / f"{safe}-{count}"
    except OSError:
        pass  # the recorder meets the same, and says so
    return folder


def run_meta(**more: Any) -> dict[str, Any]:
    """What run.json says from the start: how the run was started, and with what."""
    return {
        "format": FORMAT,
        "command": [sys.executable, *sys.argv],
        "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "pid": os.getpid(),
        "host": socket.gethostname(),
        **told_by_launcher(),
        "seed": torch.initial_seed(),
        "versions": {
            "rldebug": _version("rldebug"),
            "python": platform.python_version(),
            "torch": torch.__version__,
            "numpy": np.__version__,
            "gymnasium": _version("gymnasium"),
        },
        "git": _git_commit(),
        "state": "running",
        **more,
    }


def _version(package: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _git_commit() -> str | None:
    if shutil.which("git") is None:
        return None
    try:
        asked = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, timeout=2, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return asked.stdout.strip() or None
