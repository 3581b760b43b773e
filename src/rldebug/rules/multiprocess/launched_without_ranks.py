"""A distributed training was started without its launcher."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class LaunchedWithoutRanks(Rule):
    """A distributed training was started without its launcher.

    ## What it checks
    `init_process_group` found no rank, no number of ranks or no address.

    ## Why it matters
    Each process has to know which of how many it is; the launcher says so in the surroundings.

    ## Likely causes
    1. The script was started with `python`, not with `torchrun`. Confirm: print `os.environ.get("RANK")`.
    2. The variables are set under other names, as by a cluster. Confirm: print `os.environ`.

    ## What to try first
    Start it with `torchrun --nproc_per_node=2 train.py`.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *torchrun*; environment variable initialization.
    """

    code: ClassVar[str] = "MPR457"
    name: ClassVar[str] = "launched-without-ranks"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(r"environment variable (RANK|WORLD_SIZE|MASTER_ADDR|MASTER_PORT|LOCAL_RANK) expected")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        found = re.search(r"environment variable (\w+) expected", evidence.message)
        yield self.finding(
            f"the training was started without a launcher: {found[1] if found else 'its rank'} is not set",
            where=evidence.where,
            seen=evidence.said,
            expected="RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT for every process",
            help="start it with torchrun --nproc_per_node=N, or leave out init_process_group() with one process",
            confidence=0.95,
        )
