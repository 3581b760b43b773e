"""The environments of several ranks begin every episode alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.ranks import called, trainers
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class RanksBeginAlike(Rule):
    """The environments of several ranks begin every episode alike.

    ## What it checks
    Processes that train are watched each. The first observations of their episodes are compared, in order: they are
    equal, and differ from episode to episode.

    ## Why it matters
    More processes are to see more of the world. These see the same beginnings, levels or maps in the same order, and
    whatever else the environment draws.

    ## Likely causes
    1. Every rank gives its environments the same seed; only the policy draws differently. Confirm: print what is given
       to `reset(seed=…)` on each rank.

    ## What to try first
    Add the rank, times the number of environments of each, to the seed.

    ## When it is fine
    Where all ranks are to play the same levels on purpose.

    ## References
    Bug kind SEE-08 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "SEE356"
    name: ClassVar[str] = "ranks-begin-alike"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    follows: ClassVar[tuple[str, ...]] = ("SEE355",)

    episodes: int = 4  # that are compared
    kinds: int = 4  # of different beginnings among them

    def check(self, evidence: Script) -> Iterator[Finding]:
        members = [each for each in trainers(evidence) if len(each.get("firsts") or ()) >= self.episodes]
        if len(members) < 2:
            raise NotEnough(f"{len(members)} processes that train began {self.episodes} episodes, needs 2")
        first = members[0]
        for other in members[1:]:
            length = min(len(first["firsts"]), len(other["firsts"]))
            mine, theirs = list(first["firsts"])[:length], list(other["firsts"])[:length]
            if mine == theirs and len(set(mine)) >= self.kinds:
                yield self.finding(
                    "the environments of two ranks begin their episodes alike",
                    seen=f"{length} episodes begin with the same observations on {called(first)} and {called(other)}",
                    expected="beginnings of its own on every rank",
                    help="add the rank to the seeds of the environments",
                    confidence=0.9,
                )
                return
