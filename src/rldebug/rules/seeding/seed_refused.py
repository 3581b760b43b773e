"""A seed has a type or a value that is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class SeedRefused(Rule):
    """A seed has a type or a value that is refused.

    ## What it checks
    An environment or generator refused its seed.

    ## Why it matters
    Seeds are whole numbers of Python, from zero on.

    ## Likely causes
    1. It comes from NumPy: `np.random.randint` gives `numpy.int64`. Confirm: print its type.
    2. It is computed, and negative or beyond 32 bits: a hash, or the time. Confirm: print it.
    3. It was read as text or float from a file. Confirm: print its type.

    ## What to try first
    Pass `int(seed) % 2**32`.

    ## When it is fine
    Never: the program has ended.

    ## References
    Gymnasium, `Env.reset`; NumPy, `SeedSequence`.
    """

    code: ClassVar[str] = "SEE450"
    name: ClassVar[str] = "seed-refused"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(
            "Seed must be (a python integer|greater or equal|between 0 and)",
            "(?s)only supported seed types are",
            "SeedSequence expects int or sequence of ints",
            "expected non-negative integer",
        ) and not evidence.is_a("DeprecationWarning")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        found = re.search(r"actual (?:type|value): (.+)", evidence.message)
        numbers = [
            name
            for name, fact in evidence.operands().items()
            if fact["kind"] == "number" or (fact["kind"] == "array" and not fact["shape"])
        ]
        yield self.finding(
            f"{numbers[0] if len(numbers) == 1 else 'a number'} was refused as a seed",
            where=evidence.where,
            seen=f"{' '.join(evidence.said.split())}{operands_told(evidence)}",
            expected="an int of Python from 0 to 2**32 - 1",
            help=f"pass int({numbers[0] if len(numbers) == 1 else 'seed'}) % 2**32"
            + (f"; it is {found[1]}" if found else ""),
            confidence=0.95,
        )
