"""terminated or truncated is no bool."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_contract import EnvContract
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class FlagNotBoolean(Rule):
    """terminated or truncated is no bool.

    ## What it checks
    The type of `terminated` and `truncated` at every step. Booleans of NumPy are fine.

    ## Why it matters
    `~terminated` of the integer 1 is -2, which is true; an array of one flag is stored as a row instead of a number;
    None is taken for False by some programs and raises in others.

    ## Likely causes
    1. A comparison of arrays was not reduced with `.any()` or `.all()`. Confirm: print the shape of the flag.
    2. A branch of `step()` sets no flag, and it stays None. Confirm: print the flag at the step named.
    3. The flag is counted as 0 or 1. Confirm: print its type.

    ## What to try first
    Return `bool(terminated)` and `bool(truncated)`.

    ## When it is fine
    Nowhere; 0 and 1 work in programs that only ever say `if terminated`.

    ## References
    Gymnasium, *Make your own custom environment*.
    """

    code: ClassVar[str] = "ENV012"
    name: ClassVar[str] = "flag-not-boolean"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "EnvContract"

    def check(self, evidence: EnvContract) -> Iterator[Finding]:
        for flag in evidence.flags[:1]:
            yield self.finding(
                f"{flag.part} is no bool",
                where=evidence.where,
                seen=f"{flag.part} is {flag.seen} in {flag.times} of {flag.of} steps, first at step {flag.step}",
                expected="True or False",
                help=f"return bool({flag.part})",
                confidence=0.9,
                severity="warning" if flag.lenient else "error",
            )
