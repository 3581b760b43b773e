"""Elements of the observation never change, whoever plays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_play import EnvPlay
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ObservationElementConstant(Rule):
    """Elements of the observation never change, whoever plays.

    ## What it checks
    In an array of a few numbers most of which vary, some had one and the same value at every step of every player,
    over many episodes.

    ## Why it matters
    A variable that was meant to be seen and is not is the usual reason: the agent misses what it needs.

    ## Likely causes
    1. A variable that is never updated, or of which the observation holds an old copy. Confirm: print it in `step()`.
    2. A clip or a cast that maps everything to one value (an integer array, a range of no width). Confirm: print the
       value before it is put into the array.
    3. Nobody came to the place where it changes. Confirm: play by hand.

    ## What to try first
    Print the variable that should stand there, over one episode.

    ## When it is fine
    Parameters of the task that are the same in this configuration; a sensor that only reacts far from the start.

    ## References
    Farama Foundation, *Gymnasium documentation* (create a custom environment).
    """

    code: ClassVar[str] = "ENV041"
    name: ClassVar[str] = "observation-element-constant"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "EnvPlay"
    follows: ClassVar[tuple[str, ...]] = ("ENV032",)

    steps: int = 1000  # of all players
    most: int = 16  # elements in all: in larger ones, some are rarely touched

    def check(self, evidence: EnvPlay) -> Iterator[Finding]:
        if evidence.obs_compared < self.steps:
            raise NotEnough(f"{evidence.obs_compared} steps, needs {self.steps}")
        varying = [each for each in evidence.elements if each.distinct > 20]
        still = [each for each in evidence.elements if each.distinct == 1]
        if len(evidence.elements) > self.most or not still or len(varying) < len(evidence.elements) / 2:
            return
        named = ", ".join(f"{each.where} = {each.low:.4g}" for each in still[:3])
        yield self.finding(
            "elements of the observation never change",
            seen=f"{named} at all {evidence.obs_compared} steps of {len(evidence.plays)} players"
            + (f", and {len(still) - 3} more" if len(still) > 3 else ""),
            expected="every element varies with the state, or is left out",
            help=f"print the variable that should stand at {still[0].where} over one episode",
            confidence=0.7,
        )
