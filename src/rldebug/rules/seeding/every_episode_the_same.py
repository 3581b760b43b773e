"""Every reset without a seed starts the same episode."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_contract import EnvContract
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class EveryEpisodeTheSame(Rule):
    """Every reset without a seed starts the same episode.

    ## What it checks
    One instance is reset several times without a seed and given the same actions: all episodes are the same, although
    different seeds give different ones.

    ## Why it matters
    Training loops seed the first reset only. All later episodes are then copies of one: the agent learns one start, one
    layout, one course of the noise.

    ## Likely causes
    1. The seed has a default: `def reset(self, seed=0)`. Confirm: look at the signature of `reset()`.
    2. A missing seed is replaced: `seed or 42`. Confirm: look at how `seed` is used.
    3. The generator is made anew in every reset from a stored seed. Confirm: search for `default_rng(self.seed)`.

    ## What to try first
    Let `seed` be None by default, and pass it to `super().reset(seed=seed)` as it is.

    ## When it is fine
    One fixed episode is meant. Then seeds should not matter either.

    ## References
    Gymnasium, `Env.reset`.
    """

    code: ClassVar[str] = "SEE005"
    name: ClassVar[str] = "every-episode-the-same"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "EnvContract"

    def check(self, evidence: EnvContract) -> Iterator[Finding]:
        seeding = evidence.seeding
        if seeding is None or not seeding.seeds or not seeding.unseeded:
            raise NotEnough("not enough seeds could be tried")
        if seeding.seeds_different < seeding.seeds or seeding.unseeded_different > 1:
            return
        yield self.finding(
            "every reset without a seed starts the same episode",
            where=evidence.where,
            seen=f"one episode from {seeding.unseeded} resets without a seed, {seeding.seeds_different} different "
            f"ones from {seeding.seeds} seeds",
            expected="another episode after every reset()",
            help="let seed be None by default, and pass it to super().reset(seed=seed) as it is",
            confidence=0.93,
        )
