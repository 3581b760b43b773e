"""CUBLAS_WORKSPACE_CONFIG is set to what is not deterministic."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.machine import Machine
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class WorkspaceSettingInvalid(Rule):
    """CUBLAS_WORKSPACE_CONFIG is set to what is not deterministic.

    ## What it checks
    The value of CUBLAS_WORKSPACE_CONFIG, where it is set, beside the two with which cuBLAS computes the same each time.

    ## Why it matters
    With `torch.use_deterministic_algorithms(True)` matrix products on the GPU raise; without, two runs of one seed
    differ.

    ## Likely causes
    1. It was mistyped. Confirm: the values are :4096:8 and :16:8, each with a colon in front.

    ## What to try first
    Set CUBLAS_WORKSPACE_CONFIG=:4096:8 before the program is started.

    ## When it is fine
    Where runs need not be repeatable; a value that was chosen for speed is a note alone.

    ## References
    NVIDIA, *cuBLAS: results reproducibility*; PyTorch, *Reproducibility*.
    """

    code: ClassVar[str] = "SEE700"
    name: ClassVar[str] = "workspace-setting-invalid"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Machine"

    def check(self, evidence: Machine) -> Iterator[Finding]:
        value = evidence.variables.get("CUBLAS_WORKSPACE_CONFIG")
        if value is None or value in (":4096:8", ":16:8"):
            return
        yield self.finding(
            "the value of CUBLAS_WORKSPACE_CONFIG lets results differ from run to run",
            seen=f"CUBLAS_WORKSPACE_CONFIG={value}",
            expected=":4096:8 or :16:8",
            help="export CUBLAS_WORKSPACE_CONFIG=:4096:8, or unset it",
            confidence=0.85,
            severity="note" if re.fullmatch(r"(:\d+:\d+)+", value) else "warning",
        )
