"""Training happens in processes that are not watched."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TrainingInOtherProcess(Rule):
    """Training happens in processes that are not watched.

    ## What it checks
    Processes were started, and in the one that is watched nothing was ever updated.

    ## Why it matters
    Only the process that was started by `rldebug run` is watched. What is not in the report was not looked at.

    ## Likely causes
    1. Ranks of a distributed training are started by the program itself. Confirm: the line that starts them.

    ## What to try first
    Run it with one process, without starting others, for the diagnosis.

    ## When it is fine
    Always: it says what could not be seen.

    ## References
    PyTorch documentation, *torch.multiprocessing.spawn*.
    """

    code: ClassVar[str] = "MPR300"
    name: ClassVar[str] = "training-in-other-process"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "Script"

    processes: int = 1  # that were started

    def check(self, evidence: Script) -> Iterator[Finding]:
        started = [each for each in evidence.noted("thread") if each.get("what") == "process"]
        if len(started) < self.processes:
            raise NotEnough("no process was started")
        if evidence.counts.get("updates"):
            return
        line = next((each["line"] for each in started if each.get("line")), None)
        yield self.finding(
            "training happens in processes that are not watched",
            where=Where(file=line[0], line=line[1]) if line else Where(),
            seen=f"{max(int(each.get('times') or 1) for each in started)} processes were started, and nothing was "
            "updated in this one",
            expected="updates in the process that is watched",
            help="run it with one process, without starting others, for the diagnosis",
            confidence=0.9,
        )
