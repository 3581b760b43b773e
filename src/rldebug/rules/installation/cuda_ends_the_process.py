"""Asking for the GPU ends the process, or never returns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.machine import Machine, release
from rldebug.evidence.machines.cuda import torch_for
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class CudaEndsTheProcess(Rule):
    """Asking for the GPU ends the process, or never returns.

    ## What it checks
    In a process of its own, torch is asked whether there is a GPU, how many, what they can do, and to multiply two
    matrices on the first. The process died of a signal, or did not come back in time.

    ## Why it matters
    A training program dies or hangs at the same place, without an exception and often without a word.

    ## Likely causes
    1. The driver does not fit the CUDA that PyTorch was built for. Confirm: compare `torch.version.cuda` with the CUDA
       version in the first lines of nvidia-smi.
    2. Libraries of another CUDA are found first. Confirm: unset LD_LIBRARY_PATH and LD_PRELOAD, and look again.
    3. The GPU or its driver is in a bad state. Confirm: look for Xid in the kernel's log, with dmesg.

    ## What to try first
    Install the PyTorch that is named in `help`; where that changes nothing, update the driver and restart the machine.

    ## When it is fine
    Never, where a GPU is to be used. With `CUDA_VISIBLE_DEVICES=-1` the program runs on the CPU.

    ## References
    PyTorch, *Start locally*; NVIDIA, *CUDA compatibility* and *Xid errors*.
    """

    code: ClassVar[str] = "INS700"
    name: ClassVar[str] = "cuda-ends-the-process"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Machine"

    def check(self, evidence: Machine) -> Iterator[Finding]:
        trial, torch = evidence.trial("torch"), evidence.torch
        if trial is None or torch is None or trial.outcome not in ("died", "hung") or torch.cuda is None:
            return
        driver = evidence.driver
        yield self.finding(
            f"asking PyTorch for the GPU {'ends the process' if trial.outcome == 'died' else 'never returns'}",
            seen=f"{trial.ending}; PyTorch {torch.version} for CUDA {torch.cuda}, driver {driver.version or 'unknown'}"
            + (f" for CUDA up to {driver.cuda}" if driver.cuda else ""),
            expected="an answer",
            help=_what_to_do(evidence, torch.cuda),
            confidence=0.95,
        )


def _what_to_do(machine: Machine, cuda: str) -> str:
    driver = machine.driver
    newer = bool(driver.cuda) and release(cuda) > release(driver.cuda)
    paths = [name for name in ("LD_LIBRARY_PATH", "LD_PRELOAD") if machine.variables.get(name)]
    if newer and torch_for(driver):
        return f"install a PyTorch for a CUDA that this driver knows: {torch_for(driver)}"
    if paths:
        return f"unset {' and '.join(paths)}: libraries of another CUDA or driver may be found there first"
    anew = f"; else {torch_for(driver)}" if torch_for(driver) else ""
    return (
        f"restart the machine, and update NVIDIA's driver{anew}; until then CUDA_VISIBLE_DEVICES=-1 trains on the CPU"
    )
