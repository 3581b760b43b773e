"""The backend of a distributed training is not there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class BackendMissing(Rule):
    """The backend of a distributed training is not there.

    ## What it checks
    `init_process_group` was asked for a backend that this build of PyTorch, or this machine, has not.

    ## Why it matters
    NCCL speaks between GPUs of NVIDIA; gloo works everywhere.

    ## Likely causes
    1. PyTorch was installed without CUDA. Confirm: `torch.version.cuda` is None.
    2. There is no GPU to be seen. Confirm: `torch.cuda.is_available()`.

    ## What to try first
    Use `backend="gloo"` without a GPU.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *Distributed communication package*: backends.
    """

    code: ClassVar[str] = "INS450"
    name: ClassVar[str] = "backend-missing"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(
            r"Distributed package doesn't have \w+ built in", "ProcessGroupNCCL is only supported with GPUs"
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "the backend of the distributed training is not there",
            where=evidence.where,
            seen=evidence.said,
            expected="a backend that this build and this machine have",
            help='init_process_group("nccl" if torch.cuda.is_available() else "gloo"), or a PyTorch built with CUDA',
            confidence=0.95,
        )
