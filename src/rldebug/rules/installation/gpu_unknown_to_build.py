"""PyTorch was not built for this GPU."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class GpuUnknownToBuild(Rule):
    """PyTorch was not built for this GPU.

    ## What it checks
    A kernel was to run on a GPU for whose kind this PyTorch holds none.

    ## Why it matters
    Nothing can be computed on it.

    ## Likely causes
    1. The GPU is newer than the build. Confirm: compare `torch.cuda.get_device_capability()` with
       `torch.cuda.get_arch_list()`.
    2. The GPU is so old that it was dropped. Confirm: the same.
    3. An extension was compiled for another GPU. Confirm: the traceback ends in it.

    ## What to try first
    Install the PyTorch that is built for a newer CUDA, or an older PyTorch for an old GPU.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *Start locally*.
    """

    code: ClassVar[str] = "INS440"
    name: ClassVar[str] = "gpu-unknown-to-build"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(
            "no kernel image is available for execution",
            r"CUDA capability sm_\w+ is not compatible with the current PyTorch",
            "which is of cuda capability .* PyTorch no longer supports this GPU",
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "this PyTorch was not built for this GPU",
            where=evidence.where,
            seen=evidence.said,
            expected="a build that holds kernels for it",
            help="compare torch.cuda.get_device_capability() with torch.cuda.get_arch_list(), and install a PyTorch "
            "built for a CUDA that knows the GPU",
            confidence=0.9,
        )
