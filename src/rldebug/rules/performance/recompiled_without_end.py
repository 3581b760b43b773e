"""A compiled function is compiled anew again and again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class RecompiledWithoutEnd(Rule):
    """A compiled function is compiled anew again and again.

    ## What it checks
    `torch.compile` gave up because a function was compiled for too many different inputs.

    ## Why it matters
    Every new shape, Python number or module in a guard costs a compilation; training crawls, then stops.

    ## Likely causes
    1. The last minibatch, the rollout or the episode has another length each time. Confirm:
       `TORCH_LOGS=recompiles`.
    2. A Python number that changes, as a step or epsilon, is an argument. Confirm: the same.

    ## What to try first
    Pad or drop the last minibatch, pass changing numbers as tensors, or compile with `dynamic=True`.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *torch.compile*: recompilation.
    """

    code: ClassVar[str] = "PRF451"
    name: ClassVar[str] = "recompiled-without-end"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.is_a("FailOnRecompileLimitHit", "RecompileLimitExceeded") or evidence.says(
            r"hit config\.(accumulated_)?(recompile|cache_size)_limit",
            "(?i)recompile_limit (reached|exceeded)|cache_size_limit reached",
            "Hard failure due to fullgraph=True",
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        found = re.search(r"last reason: (.+)", evidence.message)
        yield self.finding(
            "a compiled function was compiled for too many different inputs",
            where=evidence.where,
            seen=f"{evidence.said[:150]}{f'; {found[1][:120]}' if found else ''}{operands_told(evidence)}",
            expected="the same shapes and numbers from call to call",
            help="drop or pad the last minibatch, hand changing numbers over as tensors, or "
            "torch.compile(…, dynamic=True); TORCH_LOGS=recompiles tells what differed",
            confidence=0.9,
        )
