"""Training raises an exception on a probe."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.ladder import Ladder
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class CrashesOnAProbe(Rule):
    """Training raises an exception on a probe.

    ## What it checks
    The algorithm could be made for a rung's environment, and raised an exception while it trained on it.

    ## Why it matters
    Probes are plain Gymnasium environments that pass its checker: what crashes here crashes elsewhere.

    ## Likely causes
    1. A shape or dtype is assumed that this environment does not have. Confirm: run the algorithm on this rung's
       environment by itself, and read the traceback.
    2. An episode of one step, or one that is cut off, meets code that was never run. Confirm: the same.

    ## What to try first
    Make the rung's environment by its id (`rldebug/…-v0`), and run the algorithm on it.

    ## When it is fine
    Where the algorithm is not meant for such observations or actions: let it raise when it is made.

    ## References
    Gymnasium, `check_env`.
    """

    code: ClassVar[str] = "EVA003"
    name: ClassVar[str] = "crashes-on-a-probe"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Ladder"

    def check(self, evidence: Ladder) -> Iterator[Finding]:
        crashed = [each for each in evidence.rungs if each.outcome == "crashed"]
        if not crashed:
            return
        rung = crashed[0]
        more = f" (and {len(crashed) - 1} more rungs)" if len(crashed) > 1 else ""
        yield self.finding(
            "training raises an exception on a probe",
            seen=f"rung {rung.number}, {rung.name}: {rung.reason}{more}",
            expected="training to go on",
            help="make this rung's environment by its id, and run the algorithm on it by itself",
            confidence=0.6,
        )
