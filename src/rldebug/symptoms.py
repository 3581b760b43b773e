"""What a program shows when it is run: rungs of the ladder, findings of recorded runs, how it ended, its returns."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import rldebug
from rldebug.config import Config
from rldebug.diagnose import diagnose
from rldebug.evidence.run import RunError, read_run
from rldebug.evidence.transplant import Seen
from rldebug.oracles.runner import MARKS, START
from rldebug.probe import climb_ladder
from rldebug.probes.agent import Factory, Learner, Target
from rldebug.probes.probe import Probe
from rldebug.script_target import Child, Script
from rldebug.script_target import target as script_target
from rldebug.target import TargetError

_TO_CLOSE = 5.0  # seconds between asking a program to stop and ending it


# ── the program as it is ──


def played(words: Sequence[str], orders: Path, seeds: Iterable[int], seconds: float, config: Config | None) -> Seen:
    """Run it once for each seed, and look at what it left."""
    folder, crash, stopped, runs = orders.parent, "", False, 0
    for each in seeds:
        rest = [word.replace("{seed}", str(each)) for word in words]
        said, ended = _run(rest, orders, seconds)
        stopped = stopped or ended is None
        crash = crash or said
        runs += 1
    return Seen(
        findings=_findings(folder, config),
        crash=crash,
        stopped=stopped,
        returns=tuple(float(line) for line in _lines(folder / "returns")),
        calls=_calls(folder),
        trouble=next(iter(_lines(folder / "trouble")), ""),
        runs=runs,
    )


def command(orders: Path) -> list[str]:
    """What comes before a program, so that it runs as the orders say."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(rldebug.__file__)))
    return [sys.executable, "-c", START.format(root=root), str(orders)]


def _run(words: Sequence[str], orders: Path, seconds: float) -> tuple[str, int | None]:
    """How it ended, in words where it ended badly, and its exit status; None where its time was over."""
    with (orders.parent / "said").open("w+b") as said:
        process = subprocess.Popen(
            [*command(orders), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
            start_new_session=True,  # so that it can be ended with all that it started
        )
        try:
            status: int | None = process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            if process.poll() is None:
                _end(process)
        said.seek(0)
        lines = [line.strip() for line in said.read().decode("utf-8", "replace").splitlines() if line.strip()]
    if not status:
        return "", status
    how = f"killed by {signal.Signals(-status).name}" if status < 0 else f"status {status}"
    return (f"{how}: {lines[-1]}" if lines else how), status


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ask it first: rldebug.watch has things to write."""
    for sign, wait in ((signal.SIGINT, _TO_CLOSE), (signal.SIGKILL, None)):
        try:
            os.killpg(process.pid, sign)
            process.wait(timeout=wait)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue


def _findings(folder: Path, config: Config | None) -> tuple[str, ...]:
    """Of the runs it recorded: what is probably wrong, without what follows from it."""
    names: list[str] = []
    for path in _lines(folder / "runs"):
        try:
            report = diagnose([read_run(Path(path))], config=config)
        except RunError:
            continue
        names += [each.name for each in report.roots if each.severity != "note"]
    return tuple(dict.fromkeys(names))


def _calls(folder: Path) -> dict[str, int]:
    file = folder / "calls"
    marks = Counter(file.read_text(encoding="utf-8")) if file.exists() else Counter()
    return {name: marks[mark] for name, mark in MARKS.items() if marks[mark]}


def _lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


# ── on the ladder of probes ──


@dataclass(frozen=True)
class Probing:
    env_flag: str
    probes: Iterable[str] | None
    gamma: float | None
    seeds: int
    seed: int
    steps: int | None
    seconds: float | None
    jobs: int


def climbed(words: Sequence[str], how: Probing, orders: Path) -> Seen:
    """The script on probes instead of its environment, as `rldebug probe train.py --env-flag` does it."""
    if words[0] == "-m":
        raise TargetError("--env-flag needs a script, such as train.py: not a module")
    script_target(words[0], how.env_flag, words[1:])  # says what is wrong with them
    target = Target(words[0], _Replaced(words[0], how.env_flag, tuple(words[1:]), orders))
    ladder = climb_ladder(
        target,
        gamma=how.gamma,
        probes=how.probes,
        seeds=how.seeds,
        seed=how.seed,
        steps=how.steps,
        seconds=how.seconds,
        jobs=how.jobs,
    )
    trouble = next(iter(_lines(orders.parent / "trouble")), "")
    rungs = {each.name: str(each.outcome) for each in ladder.rungs if each.outcome != "not applicable"}
    reasons = {each.name: each.reason for each in ladder.rungs if each.outcome == "crashed"}
    return Seen(rungs=rungs, reasons=reasons, calls=_calls(orders.parent), trouble=trouble, runs=len(rungs))


class _Replaced(Script):
    """A script that is run as the orders say."""

    def __init__(self, script: str, env_flag: str, arguments: tuple[str, ...], orders: Path) -> None:
        super().__init__(script, env_flag, arguments)
        self.orders = orders

    def __call__(self, factory: Factory, seed: int, wants: frozenset[str]) -> Learner:
        child = Child(self.command(type(factory.probe), seed), factory)
        child.script = self.script
        return Learner(learn=child.learn, close=child.close, updates=lambda: child.updates)

    def command(self, kind: type[Probe], seed: int) -> list[str]:
        return [*command(self.orders), *super().command(kind, seed)[1:]]


def probed(words: Sequence[str], orders: Path, seconds: float) -> Seen:
    """`rldebug probe file.py:make_agent …`, in a process of its own."""
    file = orders.parent / "ladder.json"
    said, status = _run(["-m", "rldebug", "probe", *words, "--json", str(file)], orders, seconds)
    if status is None:
        raise TargetError(f"rldebug probe {' '.join(words)} took more than {seconds:g} s")
    if not file.exists():
        raise TargetError(f"rldebug probe {' '.join(words)}: {said}")
    rungs = json.loads(file.read_text(encoding="utf-8"))["program"]["rungs"]
    outcomes = {each["name"]: each["outcome"] for each in rungs if each["outcome"] != "not applicable"}
    trouble = next(iter(_lines(orders.parent / "trouble")), "")
    reasons = {each["name"]: each["reason"] for each in rungs if each["outcome"] == "crashed"}
    return Seen(rungs=outcomes, reasons=reasons, calls=_calls(orders.parent), trouble=trouble, runs=len(outcomes))
