"""Targets go on past the end of an episode."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.targets import fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TargetRunsPastTheEnd(Rule):
    """Targets go on past the end of an episode.

    ## What it checks
    The targets of the losses are traced back to the steps they belong to, and the formula is worked out by which the
    steps within episodes were made: it fits them down to rounding. The same formula, with nothing left out, also
    gives the targets of steps at which the environment said terminated, in at least two stretches of the program.

    ## Why it matters
    Nothing comes after the end. A state that leads to failure is credited with the value of the next episode's start,
    so that failing costs nothing.

    ## Likely causes
    1. The next value is not multiplied by `1 - terminated`. Confirm: print the target of the last step of an episode,
       it must be the reward.
    2. The flag is stored as False, or of another type (`not done` of an array). Confirm: count the flags in the
       batch.
    3. The running return is not set to zero between episodes. Confirm: print the returns around an end.

    ## What to try first
    Multiply what is added to the reward by `1 - terminated`.

    ## When it is fine
    Tasks that go on for ever and where an end is only a reset say truncated, not terminated; those steps are not
    counted.

    ## References
    Sutton & Barto 2018, section 3.4.
    Seen in the wild: RWD-07 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "DIS300"
    name: ClassVar[str] = "target-runs-past-the-end"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "flags"
    follows: ClassVar[tuple[str, ...]] = ("DIS301",)

    rows: int = 4  # terminated steps

    def check(self, evidence: Script) -> Iterator[Finding]:
        fits = fit_targets(evidence)
        if not fits:
            raise NotEnough("the formula of no target was found")

        for fit in fits:
            ended = fit.ending("terminated", "follows", "value", "final", "own")
            if (
                ended is None
                or ended.audits < 2
                or ended.hit < self.rows
                or fit.ending("first", "zero", "leak") is not None
            ):
                continue  # a mask that is one step late is another rule's
            what = {"value": "the critic's target", "q": "the target of Q", "weight": "the return"}[fit.what]
            yield self.finding(
                f"{what} goes on past the end of an episode",
                where=fit.where,
                seen=f"the value of {'the last state' if ended.way == 'own' else 'what follows'} is added in "
                f"{ended.hit} of {ended.rows} terminated steps",
                expected="the reward alone where the environment said terminated",
                help="multiply what is added to the reward by (1 - terminated)",
                confidence=0.98,
            )
