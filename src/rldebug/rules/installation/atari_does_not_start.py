"""Atari is installed and its games do not start."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.machine import Machine
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class AtariDoesNotStart(Rule):
    """Atari is installed and its games do not start.

    ## What it checks
    Pong is registered, made, reset and stepped once in a process of its own.

    ## Why it matters
    No Atari environment can be made.

    ## Likely causes
    1. An ale-py from before 0.10 does not know gymnasium 1. Confirm: the namespace ALE is not found.
    2. The games are not there: before 0.9 they were installed apart. Confirm: the message says so.

    ## What to try first
    Install the newest ale-py and gymnasium together.

    ## When it is fine
    Where no Atari game is played.

    ## References
    ALE, *Getting started*; Gymnasium, *Atari*.
    """

    code: ClassVar[str] = "INS715"
    name: ClassVar[str] = "atari-does-not-start"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Machine"
    follows: ClassVar[tuple[str, ...]] = (
        "INS708",
        "INS709",
        "INS710",
    )

    def check(self, evidence: Machine) -> Iterator[Finding]:
        trial = evidence.trial("atari")
        if trial is None or not trial.failed:
            return
        package, gymnasium = evidence.package("ale-py"), evidence.package("gymnasium")
        versions = ", ".join(f"{each.name} {each.version}" for each in (package, gymnasium) if each is not None)
        yield self.finding(
            "ale-py is installed, and Pong does not start",
            seen=f"{versions}: {trial.ending}",
            expected="one step of ALE/Pong-v5",
            help="pip install --upgrade ale-py gymnasium; in the program: gymnasium.register_envs(ale_py)",
            confidence=0.9,
        )
