"""Python branches on a tensor that is only traced."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class BranchOnTracedTensor(Rule):
    """Python branches on a tensor that is only traced.

    ## What it checks
    `vmap`, `torch.compile` or a function transform met an `if`, an `.item()` or the like on a tensor.

    ## Why it matters
    The function is run once for all members, or for all later inputs: there is no single value to decide by.

    ## Likely causes
    1. `if x.sum() > 0` or `.item()` stands in the mapped or compiled function: a clamp, an early stop, a mask.
       Confirm: the line that is named.

    ## What to try first
    Write `torch.where`, or decide outside of the function.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `torch.vmap`: limitations; *torch.compile*: graph breaks.
    """

    code: ClassVar[str] = "NET451"
    name: ClassVar[str] = "branch-on-traced-tensor"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(
            "vmap: It looks like you're (attempting to use a Tensor in some data-dependent|calling .item)",
            "[Dd]ata-dependent (branching|control flow)",
            "(?s)Unsupported Tensor.item\\(\\) call",
            "Could not guard on data-dependent expression",
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        file, line = _user_code(evidence)
        where = (
            evidence.where
            if line is None
            else Where(file=file, line=line, update=evidence.updates, env_step=evidence.env_steps)
        )
        item = evidence.says("item\\(\\)|calling .item")
        yield self.finding(
            f"{'.item() was asked of' if item else 'an if depends on'} a tensor that is only traced",
            where=where,
            seen=f"{' '.join(evidence.said.split())[:150]}",
            expected="operations on tensors all the way",
            help="write torch.where(condition, a, b) instead of if, keep the tensor instead of .item(), or decide "
            "outside of the mapped or compiled function",
            confidence=0.95,
        )


def _user_code(evidence: Crash) -> tuple[str | None, int | None]:
    """torch.compile tells the line in its message: no frame of it is left."""
    found = re.findall(r'File "([^"]+)", line (\d+), in', evidence.message.rpartition("from user code:")[2])
    return (found[-1][0], int(found[-1][1])) if found else (None, None)
