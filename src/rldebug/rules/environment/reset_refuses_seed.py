"""reset() is given a seed or options, and does not take them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crash_signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ResetRefusesSeed(Rule):
    """reset() is given a seed or options, and does not take them.

    ## What it checks
    A call of `reset()` failed because of its keyword.

    ## Why it matters
    Runs cannot be seeded; most libraries call `reset(seed=…)`.

    ## Likely causes
    1. The environment or a wrapper was written for gym before 0.26. Confirm: look at its `reset`.
    2. A wrapper overrides `reset(self)` without passing on what it is given. Confirm: the same.

    ## What to try first
    Write `def reset(self, *, seed=None, options=None)`, and pass both on.

    ## When it is fine
    Never: the program has ended.

    ## References
    Gymnasium, `Env.step` and `Env.reset`.
    """

    code: ClassVar[str] = "ENV405"
    name: ClassVar[str] = "reset-refuses-seed"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"
    follows: ClassVar[tuple[str, ...]] = ("ENV024",)

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(r"reset\(\) (got an unexpected keyword argument|takes \d+ positional arguments?)")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "reset() does not take what it is given",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="reset(self, *, seed=None, options=None)",
            help="take seed and options in reset(), and pass them on to the environment below",
            confidence=0.95,
        )
