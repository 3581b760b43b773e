"""CUDA_VISIBLE_DEVICES hides the GPUs, or names one that is not there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.machine import Machine
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


def _listed(entry: str, gpus: int) -> bool:
    return entry.isdigit() and int(entry) < gpus


@dataclass(frozen=True, kw_only=True)
class VisibleDevicesWrong(Rule):
    """CUDA_VISIBLE_DEVICES hides the GPUs, or names one that is not there.

    ## What it checks
    Each entry of CUDA_VISIBLE_DEVICES, beside the GPUs that the driver lists.

    ## Why it matters
    CUDA takes the entries up to the first that it does not know, and ignores the rest without a word: the program sees
    fewer GPUs, or none.

    ## Likely causes
    1. The value is of another machine, or of another job. Confirm: print it, and compare with nvidia-smi.
    2. It was left empty in order to hide the GPUs. Confirm: look into the shell's start-up files, and the job's.

    ## What to try first
    Unset it, and look again.

    ## When it is fine
    Empty or -1 is how GPUs are hidden on purpose.

    ## References
    NVIDIA, *CUDA C++ Programming Guide*: environment variables.
    """

    code: ClassVar[str] = "INS704"
    name: ClassVar[str] = "visible-devices-wrong"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Machine"

    def check(self, evidence: Machine) -> Iterator[Finding]:
        value = evidence.variables.get("CUDA_VISIBLE_DEVICES")
        gpus = evidence.driver.gpus
        if value is None or not gpus:
            return
        entries = [each.strip() for each in value.split(",")]
        if entries[0] in ("", "-1", "NoDevFiles"):
            yield self.finding(
                "every GPU is hidden by CUDA_VISIBLE_DEVICES",
                seen=f"CUDA_VISIBLE_DEVICES={value!r}, {len(gpus)} in the machine",
                expected="the number of a GPU, or no such variable",
                help="unset CUDA_VISIBLE_DEVICES, unless the program is meant to run on the CPU",
                confidence=0.9,
                severity="note",
            )
            return
        unknown = [each for each in entries if not each.startswith(("GPU-", "MIG-")) and not _listed(each, len(gpus))]
        if unknown:
            yield self.finding(
                "a GPU in CUDA_VISIBLE_DEVICES is not there: it and all after it are ignored",
                seen=f"CUDA_VISIBLE_DEVICES={value!r}: no {unknown[0]!r} among {len(gpus)}, counted from 0",
                expected=f"numbers from 0 to {len(gpus) - 1}, parted by commas" if len(gpus) > 1 else "0",
                help=f"set CUDA_VISIBLE_DEVICES={','.join(str(each) for each in range(len(gpus)))}, or unset it",
                confidence=0.9,
            )
