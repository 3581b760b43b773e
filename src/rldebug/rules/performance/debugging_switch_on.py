"""A switch for debugging is on, and slows everything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.machine import Machine
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule

_OF_THE_GPU = ("CUDA_LAUNCH_BLOCKING", "PYTORCH_NO_CUDA_MEMORY_CACHING")
_OF_PYTHON = ("PYTHONDEVMODE", "PYTHONMALLOC")


def _debugs(machine: Machine) -> bool:
    return "debug" in machine.variables["PYTHONMALLOC"]


@dataclass(frozen=True, kw_only=True)
class DebuggingSwitchOn(Rule):
    """A switch for debugging is on, and slows everything.

    ## What it checks
    Variables of the environment that make the GPU wait after each kernel, take memory from the driver each time, or
    make Python check itself.

    ## Why it matters
    Training is several times slower, in a way that no profile of the program explains.

    ## Likely causes
    1. It was set to find an error, and stayed. Confirm: look into the shell's start-up files, and the job's.

    ## What to try first
    Unset it.

    ## When it is fine
    While you look for an error.

    ## References
    PyTorch, *CUDA environment variables*; Python, *Development mode*.
    """

    code: ClassVar[str] = "PRF704"
    name: ClassVar[str] = "debugging-switch-on"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "Machine"

    def check(self, evidence: Machine) -> Iterator[Finding]:
        gpu = bool(evidence.driver.gpus)
        on = [
            f"{name}={evidence.variables[name]}"
            for name in (*_OF_PYTHON, *(_OF_THE_GPU if gpu else ()))
            if evidence.variables.get(name, "") not in ("", "0") and (name != "PYTHONMALLOC" or _debugs(evidence))
        ]
        if not on:
            return
        yield self.finding(
            "a switch for debugging is on, and slows everything",
            seen=", ".join(on),
            expected="none of them in training",
            help=f"unset {' '.join(each.partition('=')[0] for each in on)}",
            confidence=0.85,
        )
