"""Fresh instances play the same episodes where none is seeded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_contract import EnvContract
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class InstancesPlayAlike(Rule):
    """Fresh instances play the same episodes where none is seeded.

    ## What it checks
    Several fresh instances are reset without a seed and given the same actions: all go the same way, although one
    instance plays another episode after every reset. The global generators differ between them.

    ## Why it matters
    Where a vector of environments is not seeded, its members are copies: a batch of eight is a batch of one.

    ## Likely causes
    1. A generator is made in `__init__` with a fixed seed. Confirm: search for `default_rng(0)` and its like.
    2. `__init__` calls `self.reset(seed=0)`, to learn the shapes. Confirm: look for a reset in `__init__`.

    ## What to try first
    Leave the generator to `super().reset(seed=seed)`: without a seed it takes one from the system.

    ## When it is fine
    All are always seeded, each differently.

    ## References
    Stable-Baselines issue 675.
    """

    code: ClassVar[str] = "SEE006"
    name: ClassVar[str] = "instances-play-alike"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "EnvContract"
    follows: ClassVar[tuple[str, ...]] = ("SEE004",)

    different: int = 3  # episodes that the resets of one instance must give

    def check(self, evidence: EnvContract) -> Iterator[Finding]:
        seeding = evidence.seeding
        if seeding is None or not seeding.instances or not seeding.unseeded:
            raise NotEnough("not enough instances could be tried")
        if seeding.instances_different > 1 or seeding.unseeded_different < self.different:
            return
        yield self.finding(
            "fresh instances play the same episodes",
            where=evidence.where,
            seen=f"one course of episodes in {seeding.instances} fresh instances without a seed; "
            f"{seeding.unseeded_different} different episodes in {seeding.unseeded} resets of one",
            expected="instances that differ where none was given a seed",
            help="do not seed the generator in __init__; leave it to super().reset(seed=seed)",
            confidence=0.85,
        )
