"""The environment lowers the precision of matrix products."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.machine import Machine
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class PrecisionLoweredOutside(Rule):
    """The environment lowers the precision of matrix products.

    ## What it checks
    Variables that switch TF32 on in all matrix products of the GPU, whatever the program says.

    ## Why it matters
    Products are computed with 10 bits of mantissa in place of 23: results differ from those of other machines, and from
    what the program asks for.

    ## Likely causes
    1. The container's image sets it, as NVIDIA's own images of PyTorch do. Confirm: print the variable in the
       container.

    ## What to try first
    Unset it, and choose with `torch.set_float32_matmul_precision` in the program.

    ## When it is fine
    Where speed matters more, and results are compared on this machine alone.

    ## References
    PyTorch, *CUDA semantics: TensorFloat-32*.
    """

    code: ClassVar[str] = "SEE701"
    name: ClassVar[str] = "precision-lowered-outside"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "Machine"

    def check(self, evidence: Machine) -> Iterator[Finding]:
        on = [
            f"{name}={evidence.variables[name]}"
            for name in ("NVIDIA_TF32_OVERRIDE", "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE")
            if evidence.variables.get(name, "") not in ("", "0")
        ]
        if not on or not evidence.driver.gpus:
            return
        yield self.finding(
            "a variable of the environment lowers the precision of all matrix products",
            seen=", ".join(on),
            expected="the program to decide, with torch.set_float32_matmul_precision",
            help=f"unset {' '.join(each.partition('=')[0] for each in on)}",
            confidence=0.85,
        )
