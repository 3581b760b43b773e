"""A stored state of a random generator is put back in another form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class RngStateUnfit(Rule):
    """A stored state of a random generator is put back in another form.

    ## What it checks
    `set_rng_state` was given something that is not a tensor of bytes on the CPU.

    ## Why it matters
    The state of a generator is data for the CPU, also that of a GPU's.

    ## Likely causes
    1. The checkpoint was loaded with `map_location="cuda"`, and the state went along. Confirm: print its device.
    2. It went through JSON or NumPy. Confirm: print its dtype.

    ## What to try first
    Call `.cpu()` on it, and load with `map_location="cpu"`.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `torch.set_rng_state`.
    """

    code: ClassVar[str] = "CKP451"
    name: ClassVar[str] = "rng-state-unfit"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says("RNG state must be a torch.ByteTensor", "RNG state is wrong size|Invalid mt19937 state")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "the stored state of a random generator has another form",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="a tensor of uint8 on the CPU, as get_rng_state() gives it",
            help='torch.set_rng_state(state.cpu().byte()) for one that was loaded; torch.load(…, map_location="cpu")',
            confidence=0.95,
        )
