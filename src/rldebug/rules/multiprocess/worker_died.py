"""A worker process is gone."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.workers import ended
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule

_GONE = (
    r"DataLoader worker .*(exited|killed)|process \d+ terminated with (signal|exit code)"
    r"|[Tt]he actor died|actor is dead|The worker died unexpectedly"
)
_RAY = ("ActorDiedError", "RayActorError", "WorkerCrashedError")


@dataclass(frozen=True, kw_only=True)
class WorkerDied(Rule):
    """A worker process is gone.

    ## What it checks
    Reading from or writing to another process failed because it has ended. In a live program its exit code is told.

    ## Why it matters
    The error that ended it is in its own output; here only the silence is seen.

    ## Likely causes
    1. The environment raised in the worker: exit code 1. Confirm: read the first traceback in the output, or run
       with `SyncVectorEnv` or `DummyVecEnv`, in one process.
    2. The worker was killed for lack of memory: SIGKILL. Confirm: the log of the system; fewer workers.
    3. A simulator or a driver crashed: SIGSEGV, SIGABRT. Confirm: `python -X faulthandler` names the line.
    4. The worker's loop ended by itself: exit code 0. Confirm: look for the `break` or `return`.

    ## What to try first
    Run the same with one process.

    ## When it is fine
    Never: the program has ended.

    ## References
    Python, `multiprocessing`: the spawn and forkserver start methods.
    """

    code: ClassVar[str] = "MPR402"
    name: ClassVar[str] = "worker-died"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        gone = evidence.is_a(
            "EOFError", "BrokenPipeError", "ConnectionResetError", "ConnectionRefusedError", "BrokenProcessPool"
        )
        if evidence.says("shared memory"):
            return False  # it died of that
        return (
            (gone and evidence.inside("multiprocessing", "concurrent")) or evidence.says(_GONE) or evidence.is_a(*_RAY)
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        workers = evidence.between.get("workers", [])
        ends = "; ".join(f"{each['name']} {ended(each['exit'])}" for each in workers[:3])
        exits = {each["exit"] for each in workers} | _told_exits(evidence)
        why, advice = _advice(exits)
        yield self.finding(
            f"a worker process is gone{why}",
            where=evidence.where,
            seen=f"{evidence.said}{f'; {ends}' if ends else ''}",
            expected="an answer of the worker",
            help=advice,
            confidence=0.9,
        )


def _told_exits(evidence: Crash) -> set[int]:
    """By the message alone: `terminated with signal SIGKILL`, `killed by signal: Killed`."""
    if found := re.search(r"exit code (\d+)", evidence.message):
        return {int(found[1])}
    named = [each for each in signal.Signals if re.search(rf"\b{each.name}\b", evidence.message)]
    words = {"Killed": signal.SIGKILL, "Segmentation fault": signal.SIGSEGV, "Aborted": signal.SIGABRT}
    named += [each for word, each in words.items() if f"signal: {word}" in evidence.message]
    return {-int(each) for each in named}


def _advice(exits: set[int]) -> tuple[str, str]:
    if -9 in exits:
        return (
            ": killed",
            "most often memory ran out: use fewer workers, or a smaller buffer; dmesg tells who was killed",
        )
    if exits & {-11, -6, -7, -4}:
        return ": crashed outside of Python", (
            "run python -X faulthandler with one process (SyncVectorEnv, DummyVecEnv): it names the line of the crash"
        )
    if exits and max(exits) > 0:
        return ": it raised an exception", (
            "its own traceback stands above this one in the output: mend that one; SyncVectorEnv or DummyVecEnv "
            "raises it in this process"
        )
    return "", "run the same in one process (SyncVectorEnv, DummyVecEnv): the error of the worker shows there"
