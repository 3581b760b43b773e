"""A log in JSON is given a number of NumPy or PyTorch."""

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
class NumberJsonRefuses(Rule):
    """A log in JSON is given a number of NumPy or PyTorch.

    ## What it checks
    `json` refused a value that is a NumPy number, an array or a tensor.

    ## Why it matters
    JSON knows Python's numbers only.

    ## Likely causes
    1. A mean of NumPy is logged as it is. Confirm: print its type.
    2. A tensor is logged without `.item()`. Confirm: the same.

    ## What to try first
    Write `float(value)`, or `default=float` in `json.dump`.

    ## When it is fine
    Never: the program has ended.

    ## References
    Python, `json`.
    """

    code: ClassVar[str] = "EVA454"
    name: ClassVar[str] = "number-json-refuses"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(r"Object of type (\w+) is not JSON serializable")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        found = re.search(r"Object of type (\w+) is not JSON", evidence.message)
        kind = found[1] if found else "it"
        advice = {
            "Tensor": "write .item() for one number and .tolist() for several",
            "ndarray": "write .tolist()",
        }.get(kind, "write float(value), or json.dump(…, default=float)")
        yield self.finding(
            f"a {kind} cannot be written as JSON",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="numbers, texts, lists and dictionaries of Python",
            help=advice,
            confidence=0.95,
        )
