"""A reward is NaN or infinite, before anything else is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rldebug.evidence.finite import nonfinite_at, recorded
from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class NonfiniteReward(Rule):
    """A reward is NaN or infinite, before anything else is.

    ## What it checks
    It walks the readings of a run in order; in the first one with a number that is not finite, the stage furthest
    upstream is blamed, and only that one. Here that stage is the reward: of a rollout, of a replay batch, or as the
    watched environment returned it.

    ## Why it matters
    One such reward makes every return that contains it, then the loss, then all weights NaN. In a replay buffer it
    comes back for as long as the row is kept.

    ## Likely causes
    1. Reward arithmetic outside its domain: a logarithm or root of a number that can be 0 or negative, a division by
       a distance or a count that can be 0. Confirm: `episode/reward_sum` is not finite, so the environment itself
       returned it; print the terms of the reward on that step.
    2. Reward scaling divides by a running standard deviation that is still 0. Confirm: `episode/reward_sum` is finite
       while `reward/mean` or `replay/reward_mean` is not.
    3. The simulation itself has diverged. Confirm: `env/obs_nonfinite` is above 0 in the same or the next reading.
    4. Rows of a buffer that were never written (`np.empty`) are sampled. Confirm: `replay/reward_max` is absurd in
       other readings.

    ## What to try first
    Put `assert np.isfinite(reward)` behind `env.step` and behind every wrapper that touches the reward; the first one
    that fails is the one.

    ## When it is fine
    Rows that are padded with NaN on purpose and masked out later: if everything computed from them stays finite, this
    is a note, not an error.

    ## References
    Gymnasium, `gymnasium.utils.env_checker`. Stable-Baselines3, `VecCheckNan` (names who produced the NaN).
    """

    code: ClassVar[str] = "ENV001"
    name: ClassVar[str] = "nonfinite-reward"
    severity: ClassVar[Severity] = "error"
    follows: ClassVar[tuple[str, ...]] = ("ENV002",)
    trap: ClassVar[bool] = True

    def check(self, evidence: Run) -> Iterator[Finding]:
        first = nonfinite_at(evidence, "reward")
        if first is None:
            if not recorded(evidence, "reward"):
                raise NotEnough("no rewards were handed over")
            return
        counted = "episode/reward_sum" in evidence
        outside = counted and bool(np.isfinite(evidence["episode/reward_sum"].value).all())
        place = replace(
            evidence.call("replay" if first.series.startswith("replay/") else "rollout"),
            update=first.reading.update,
            env_step=first.reading.env_step,
            tensor=first.series,
        )
        yield self.finding(
            "a reward is not finite",
            where=place,
            seen=first.seen,
            expected="a finite reward on every step",
            help="the environment's own rewards look finite: check what the loop does to them (scaling, buffer)"
            if outside
            else "look for a log, root or division in the reward and for what it gets on that step",
            confidence=first.confidence,
            severity="note" if first.spread is False else "error",
        )
