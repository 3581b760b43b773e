"""A GPU is asked for that is not there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule

# What is said, what it means, what to do.
_CAUSES = (
    (
        "Torch not compiled with CUDA enabled",
        "this PyTorch was built for the CPU only",
        "install the build for CUDA, as pytorch.org tells it, or choose the device by what is there: "
        'device = "cuda" if torch.cuda.is_available() else "cpu"',
    ),
    (
        "Found no NVIDIA driver|No CUDA GPUs are available",
        "no GPU of NVIDIA can be reached from here",
        "run nvidia-smi; look at CUDA_VISIBLE_DEVICES and at how the container was started; or choose the device by "
        "torch.cuda.is_available()",
    ),
    (
        "NVIDIA driver on your system is too old|CUDA driver version is insufficient",
        "the driver is older than this PyTorch needs",
        "update the driver, or install PyTorch for the version of CUDA that nvidia-smi shows",
    ),
    (
        "invalid device ordinal|Invalid device id",
        "there are fewer GPUs than the number asked for",
        "print torch.cuda.device_count(); numbers begin at 0, and count only those in CUDA_VISIBLE_DEVICES",
    ),
    (
        "not linked with support for|from the 'MPS' backend|MPS backend is not available|PyTorch is not linked",
        "this PyTorch does not have that kind of device",
        'choose the device by what is there: device = "cuda" if torch.cuda.is_available() else "cpu"',
    ),
)


@dataclass(frozen=True, kw_only=True)
class GpuMissing(Rule):
    """A GPU is asked for that is not there.

    ## What it checks
    A tensor or module was to be moved to a GPU, and there is none, or PyTorch was built without.

    ## Why it matters
    The program cannot begin.

    ## Likely causes
    1. PyTorch is installed in its version for the CPU. Confirm: `torch.version.cuda` is None.
    2. No driver, or none that fits. Confirm: run nvidia-smi.
    3. The number of the GPU is beyond those that are there. Confirm: `torch.cuda.device_count()`.

    ## What to try first
    Choose the device by `torch.cuda.is_available()`.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *Start locally*.
    """

    code: ClassVar[str] = "INS403"
    name: ClassVar[str] = "gpu-missing"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return any(evidence.says(text) for text, _, _ in _CAUSES)

    def check(self, evidence: Crash) -> Iterator[Finding]:
        for text, meaning, help in _CAUSES:
            if evidence.says(text):
                yield self.finding(
                    f"a GPU was asked for that is not there: {meaning}",
                    where=evidence.where,
                    seen=evidence.said + (f", in `{evidence.at.source}`" if evidence.at else ""),
                    expected="a device that this machine has",
                    help=help,
                    confidence=0.95,
                )
                return
