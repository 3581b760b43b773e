"""Two elements of the observation always have the same value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_play import EnvPlay
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ObservationElementDuplicated(Rule):
    """Two elements of the observation always have the same value.

    ## What it checks
    Two elements of one array had the same value at every step of every player, and that value took many different
    numbers.

    ## Why it matters
    A copied line is the usual reason, and then the variable that should stand there is missing.

    ## Likely causes
    1. A copied line: `[x, v, angle, v]`. Confirm: read the line that builds the observation.
    2. A slice that is off by one, so that two parts overlap. Confirm: print the slices' bounds.
    3. Two views of one array where two arrays were meant. Confirm: `a is b`.

    ## What to try first
    Read the line that builds the observation, at the two places named.

    ## When it is fine
    Redundant sensors.

    ## References
    Farama Foundation, *Gymnasium documentation* (create a custom environment).
    """

    code: ClassVar[str] = "ENV040"
    name: ClassVar[str] = "observation-element-duplicated"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "EnvPlay"

    steps: int = 200  # compared
    distinct: int = 20  # values: fewer may coincide
    most: int = 64  # elements in all: larger ones list every part of a body, and some are alike

    def check(self, evidence: EnvPlay) -> Iterator[Finding]:
        if evidence.obs_compared < self.steps:
            raise NotEnough(f"{evidence.obs_compared} steps, needs {self.steps}")
        pairs = [(each.twin, each.where) for each in evidence.elements if each.twin and each.distinct >= self.distinct]
        if not pairs or len(evidence.elements) > self.most:
            return
        named = ", ".join(f"{one} = {other}" for one, other in pairs[:3])
        yield self.finding(
            "elements of the observation are copies of one another",
            seen=f"{named} at all {evidence.obs_compared} steps"
            + (f", and {len(pairs) - 3} more" if len(pairs) > 3 else ""),
            expected="each element says something of its own",
            help=f"check what should stand at {pairs[0][1]}",
            confidence=0.85,
        )
