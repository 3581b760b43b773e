"""A lost life starts the whole game anew."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.worlds import fact, name_of, training_streams, wrappers
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class LostLifeRestartsGame(Rule):
    """A lost life starts the whole game anew.

    ## What it checks
    Episodes that are handed over as terminated although `info["lives"]` says that some are left: a lost life counts as
    an end. After the reset there are more lives than before, each time: the game was begun anew, not gone on with.

    ## Why it matters
    The agent only ever plays with its first life. What comes later in the game, and what fewer lives are worth, it
    never sees; in evaluation it does.

    ## Likely causes
    1. A wrapper ends the episode at a lost life, and hands `reset` on all the same. Confirm: print the lives in the
       info of `reset`.

    ## What to try first
    In the wrapper, reset the game only where it was over; else take one step that does nothing.

    ## When it is fine
    The first life is the whole task. Gymnasium's `AtariPreprocessing(terminal_on_life_loss=True)` does so by design,
    and is left alone.

    ## References
    Mnih et al. 2015; `EpisodicLifeEnv` of OpenAI Baselines.
    Seen in the wild: WRP-01 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "ENV311"
    name: ClassVar[str] = "lost-life-restarts-game"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    ends: int = 5  # with lives left
    share: float = 0.95  # after which there are more of them

    def check(self, evidence: Script) -> Iterator[Finding]:
        judged = 0
        for stream in training_streams(evidence):
            renewed, kept = (int(fact(stream, name) or 0) for name in ("lives_renewed", "lives_kept"))
            judged += renewed + kept
            if any("AtariPreprocessing" in each for each in wrappers(stream)):
                continue
            if renewed < self.ends or renewed < self.share * (renewed + kept):
                continue
            yield self.finding(
                "a lost life starts the whole game anew",
                seen=f"{renewed} of {renewed + kept} episodes in {name_of(stream)} ended with lives left, and had more "
                "of them after the reset",
                expected="the same game, with the lives that are left",
                help="reset the game in the wrapper only where it was over; else take one step that does nothing",
                confidence=0.9,
            )
            return
        if judged < self.ends:
            raise NotEnough(f"{judged} episodes that ended with lives left, needs {self.ends}")
