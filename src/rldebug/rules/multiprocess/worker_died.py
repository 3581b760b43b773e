"""A worker process is gone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class WorkerDied(Rule):
    """A worker process is gone.

    ## What it checks
    Reading from or writing to another process failed because it has ended.

    ## Why it matters
    The error that ended it is in its own output; here only the silence is seen.

    ## Likely causes
    1. The environment raised in the worker. Confirm: run with `SyncVectorEnv` or `DummyVecEnv`, in one process.
    2. The worker was killed for lack of memory. Confirm: the log of the system.
    3. The main module has no `if __name__ == "__main__":`, and each spawned worker starts the program anew. Confirm:
       look for it.

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
        return (gone and evidence.inside("multiprocessing", "concurrent")) or evidence.says(
            r"DataLoader worker .* exited", "bootstrapping phase", "process \\d+ terminated with signal"
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "a worker process is gone",
            where=evidence.where,
            seen=evidence.said,
            expected="an answer of the worker",
            help="run the same in one process (SyncVectorEnv, DummyVecEnv): the error of the worker shows there",
            confidence=0.85,
        )
