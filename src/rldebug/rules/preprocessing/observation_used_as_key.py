"""An observation is used as a key and cannot be one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ObservationUsedAsKey(Rule):
    """An observation is used as a key and cannot be one.

    ## What it checks
    An array was used as a key of a dictionary, or a tensor that is equal to no other one.

    ## Why it matters
    A table of values needs keys that can be compared: arrays have no hash, and each tensor has one of its own.

    ## Likely causes
    1. A table `Q[obs]` is indexed by the observation as it comes. Confirm: print its type.
    2. A visit count is kept per state. Confirm: the same.

    ## What to try first
    Use `tuple(obs)`, or `obs.tobytes()`; round it first if it is continuous.

    ## When it is fine
    Never: the program has ended.

    ## References
    Python, *Glossary*: hashable.
    """

    code: ClassVar[str] = "PRE450"
    name: ClassVar[str] = "observation-used-as-key"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says("unhashable type: 'numpy.ndarray'") or (
            evidence.is_a("KeyError") and evidence.says(r"^tensor\(", r"^array\(")
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        arrays = [name for name, fact in evidence.operands().items() if fact["kind"] in ("array", "tensor")]
        name = arrays[0] if arrays else "the observation"
        tensor = evidence.is_a("KeyError")
        yield self.finding(
            f"{name} was used as a key",
            where=evidence.where,
            seen=f"{evidence.said[:120]}{operands_told(evidence)}",
            expected="a key that can be compared: a number, a text, a tuple of them",
            help=f"use {name}.item() for one number, tuple({name}.tolist()) for several"
            if tensor
            else f"use tuple({name}), rounded first where it is continuous, or {name}.tobytes()",
            confidence=0.85,
        )
