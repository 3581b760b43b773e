"""The seed given to reset() is ignored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_contract import EnvContract
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class SeedIgnored(Rule):
    """The seed given to reset() is ignored.

    ## What it checks
    Fresh instances, reset with different seeds and given the same actions, all play the same episode, although resets
    without a seed differ from one another.

    ## Why it matters
    All runs over different seeds are one run, and the spread between them, which papers report, is the spread of the
    training alone. Vector environments run in lockstep.

    ## Likely causes
    1. A wrapper does not pass the seed on. Confirm: the layer is named in the finding where it is one.
    2. A generator is made in `__init__` with a fixed seed, and `reset()` does not seed it anew. Confirm: search for
       `default_rng(`.
    3. `reset()` does not call `super().reset(seed=seed)`. Confirm: look at its first line.

    ## What to try first
    Call `super().reset(seed=seed)` first in `reset()`, and draw from `self.np_random`.

    ## When it is fine
    Levels that are played in a fixed order on purpose.

    ## References
    Tianshou pull request 861.
    """

    code: ClassVar[str] = "SEE004"
    name: ClassVar[str] = "seed-ignored"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "EnvContract"
    follows: ClassVar[tuple[str, ...]] = ("ENV018",)

    different: int = 3  # episodes that resets without a seed must give

    def check(self, evidence: EnvContract) -> Iterator[Finding]:
        seeding = evidence.seeding
        if seeding is None or not seeding.seeds or not seeding.unseeded:
            raise NotEnough("not enough seeds could be tried")
        if seeding.seeds_different > 1 or seeding.unseeded_different < self.different:
            return
        layer = next((each for each in evidence.layers if each.name == seeding.seed_layer), None)
        by = f"; below {seeding.seed_layer} the seed matters" if seeding.seed_layer else ""
        yield self.finding(
            "the seed given to reset() is ignored" + (f" by {seeding.seed_layer}" if by else ""),
            where=layer.where if layer else evidence.where,
            seen=f"one episode from {seeding.seeds} seeds, {seeding.unseeded_different} different ones from "
            f"{seeding.unseeded} resets without a seed{by}",
            expected="another episode from another seed",
            help="pass seed on to the environment below" if by else "call super().reset(seed=seed), use self.np_random",
            confidence=0.95 if by else 0.85,
        )
