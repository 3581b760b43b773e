"""The network is fed NaN, and a distribution refuses what comes of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import nan_mended, nan_told, refused_parameter
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class NonfiniteInputRefused(Rule):
    """The network is fed NaN, and a distribution refuses what comes of it.

    ## What it checks
    A distribution refused NaN; the weights of the network are finite, and an array among the data holds NaN.

    ## Why it matters
    What is fed to the network decides what it gives; here it is not a number.

    ## Likely causes
    1. The environment gives NaN. Confirm: check each observation as it leaves `step()`.
    2. The preprocessing divides by 0: by a standard deviation or a range of a constant element. Confirm: check what
       goes in and what comes out.

    ## What to try first
    Check for NaN behind the environment and behind each step of the preprocessing; the first that holds it is at fault.

    ## When it is fine
    Never: the program has ended.

    ## References
    NumPy, `numpy.isfinite`.
    """

    code: ClassVar[str] = "PRE405"
    name: ClassVar[str] = "nonfinite-input-refused"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"
    follows: ClassVar[tuple[str, ...]] = ("ENV002", "ENV015")

    def concerns(self, evidence: Crash) -> bool:
        return refused_parameter(evidence) == "input"

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        names = [name for _, name, fact in evidence.held("array") if fact.get("nan")]
        names = [evidence.nan["name"]] if evidence.nan else names
        yield self.finding(
            "the network was fed NaN",
            where=evidence.where,
            seen=f"{evidence.said}; {names[0]} holds NaN, the weights do not{nan_told(evidence)}",
            expected="finite observations",
            help=nan_mended(evidence)
            or "check for NaN behind the environment, and behind each step of the preprocessing",
            confidence=0.7,
        )
