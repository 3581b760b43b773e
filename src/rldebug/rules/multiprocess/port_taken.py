"""The port of a distributed training is taken."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class PortTaken(Rule):
    """The port of a distributed training is taken.

    ## What it checks
    The address at which the ranks were to meet is in use.

    ## Why it matters
    Two trainings on one machine cannot meet at the same port.

    ## Likely causes
    1. Another training runs, or the last one was not ended. Confirm: `ss -ltnp` shows who listens.
    2. Every rank takes itself for rank 0. Confirm: print the rank before `init_process_group`.

    ## What to try first
    Choose another port: `torchrun --master_port=29501`, or `MASTER_PORT`.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *torchrun*.
    """

    code: ClassVar[str] = "MPR459"
    name: ClassVar[str] = "port-taken"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says("EADDRINUSE") or (
            evidence.says("[Aa]ddress already in use") and evidence.inside("torch", "multiprocessing")
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        found = re.search(r"port: (\d+)", evidence.message)
        yield self.finding(
            f"the port {found[1]} is taken" if found else "the port is taken",
            where=evidence.where,
            seen=evidence.said,
            expected="a free port for each training on the machine",
            help="end the other training, or choose another port: torchrun --master_port=29501, --standalone, or "
            "MASTER_PORT; and see that only rank 0 listens",
            confidence=0.95,
        )
