"""Several processes train on the very same data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.ranks import trainers
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class RanksPlayAlike(Rule):
    """Several processes train on the very same data.

    ## What it checks
    Processes that train are watched each. The observations and rewards of their first steps are compared: they are
    equal, number by number.

    ## Why it matters
    The second process adds nothing: it repeats what the first does, and the gradient is averaged over copies.

    ## Likely causes
    1. Every process gets the same seed. Confirm: print the seed on each rank.
    2. The seed is set in the parent, and children inherit its generators. Confirm: draw one number in each.

    ## What to try first
    Add the rank to every seed: of torch, of numpy, and of the environments.

    ## When it is fine
    Never, where the environment or the policy draws at random.

    ## References
    Bug kind SEE-08 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "SEE355"
    name: ClassVar[str] = "ranks-play-alike"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    steps: int = 16  # that are compared

    def check(self, evidence: Script) -> Iterator[Finding]:
        members = [each for each in trainers(evidence) if len(each.get("seen") or ()) >= 2 * self.steps]
        if len(members) < 2:
            raise NotEnough(f"{len(members)} processes that train were watched, needs 2")
        first, other = members[0], members[1]
        length = min(len(first["seen"]), len(other["seen"]))
        if list(first["seen"])[:length] != list(other["seen"])[:length] or len(set(first["seen"])) < self.steps:
            return
        yield self.finding(
            "two processes train on the very same data",
            where=Where(),
            seen=f"{length // 2} observations and rewards are equal in both",
            expected="data of its own in every process",
            help="add the rank to the seeds of torch, numpy and the environments",
            confidence=0.95,
        )
