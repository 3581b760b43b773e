"""Environments cannot draw themselves into an array."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.machine import Machine
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class PicturesNotDrawn(Rule):
    """Environments cannot draw themselves into an array.

    ## What it checks
    CartPole is drawn with render_mode='rgb_array' in a process of its own, where pygame is installed. That needs no
    screen.

    ## Why it matters
    Videos of episodes, and observations that are pictures, fail.

    ## Likely causes
    1. SDL_VIDEODRIVER names a driver that is not there. Confirm: unset it, and look again.
    2. pygame is broken, or hidden by another of its kind. Confirm: import pygame alone.

    ## What to try first
    Unset SDL_VIDEODRIVER, or set it to dummy.

    ## When it is fine
    Where nothing is drawn.

    ## References
    Gymnasium, *Classic control*; pygame, *pygame.display: SDL_VIDEODRIVER*.
    """

    code: ClassVar[str] = "INS717"
    name: ClassVar[str] = "pictures-not-drawn"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Machine"
    follows: ClassVar[tuple[str, ...]] = (
        "INS708",
        "INS709",
        "INS710",
    )

    def check(self, evidence: Machine) -> Iterator[Finding]:
        trial = evidence.trial("pygame")
        if trial is None or not trial.failed:
            return
        chosen = evidence.variables.get("SDL_VIDEODRIVER")
        yield self.finding(
            "pictures of CartPole cannot be drawn",
            seen=trial.ending + (f"; SDL_VIDEODRIVER={chosen}" if chosen else ""),
            expected="a picture, without any screen",
            help="set SDL_VIDEODRIVER=dummy" if chosen != "dummy" else "pip install --force-reinstall pygame",
            confidence=0.85,
        )
