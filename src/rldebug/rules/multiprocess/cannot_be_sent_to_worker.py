"""Something is sent to another process that cannot be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class CannotBeSentToWorker(Rule):
    """Something is sent to another process that cannot be.

    ## What it checks
    Pickling failed while a worker process was started or spoken to.

    ## Why it matters
    Another process gets a copy, made of bytes; locks, sockets, generators, windows and local functions have none.

    ## Likely causes
    1. The environment or its factory holds such an object. Confirm: the message names its type.
    2. A lambda or a local function is sent. Confirm: define it at the top of the file.

    ## What to try first
    Make the object inside the worker, from plain settings.

    ## When it is fine
    Never: the program has ended.

    ## References
    Python, `multiprocessing`: programming guidelines.
    """

    code: ClassVar[str] = "MPR401"
    name: ClassVar[str] = "cannot-be-sent-to-worker"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(
            r"[Cc]an(no|')t pickle", "Can't get (local object|attribute)", "pickle local object"
        ) and evidence.inside(
            "multiprocessing",
            "cloudpickle",
            "pickle",
            "torch.multiprocessing",
            "gymnasium.vector",
            "stable_baselines3.common.vec_env",
            "concurrent",
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "something was sent to another process that cannot be",
            where=evidence.where,
            seen=evidence.said,
            expected="objects that can be pickled",
            help="make the object inside the worker, and define functions at the top of the file",
            confidence=0.85,
        )
