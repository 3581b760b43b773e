"""Both gym and gymnasium are installed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.machine import Machine
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class GymBesideGymnasium(Rule):
    """Both gym and gymnasium are installed.

    ## What it checks
    Whether both distributions are there.

    ## Why it matters
    They look the same and are not: environments and spaces of one are refused by libraries that expect the other, and
    reset() and step() may give something else.

    ## Likely causes
    1. A library of the time of gym is installed. Confirm: `pip show gym` names what requires it.
    2. The program has moved to Gymnasium, and gym stayed behind. Confirm: look for `import gym` in your files.

    ## What to try first
    Uninstall gym, where nothing requires it.

    ## When it is fine
    Where an old library needs it, and environments go through shimmy.

    ## References
    Gymnasium, *Compatibility with Gym*.
    """

    code: ClassVar[str] = "INS712"
    name: ClassVar[str] = "gym-beside-gymnasium"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "Machine"
    follows: ClassVar[tuple[str, ...]] = ("INS711",)

    def check(self, evidence: Machine) -> Iterator[Finding]:
        gym, gymnasium = evidence.package("gym"), evidence.package("gymnasium")
        if gym is None or gymnasium is None:
            return
        yield self.finding(
            "both gym and gymnasium are installed: see that the program imports one of them only",
            seen=f"gym {gym.version}, gymnasium {gymnasium.version}",
            expected="gymnasium alone",
            help="pip uninstall gym, where nothing requires it",
            confidence=0.8,
        )
