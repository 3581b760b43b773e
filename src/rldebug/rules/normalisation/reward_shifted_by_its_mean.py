"""Rewards lose their mean where they are to be scaled only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.robust_fit import Array
from rldebug.forensics.target_models import formula_of, right_formula_of
from rldebug.forensics.target_rows import Steps, groups, where_of
from rldebug.forensics.target_scaled import rescaled, shifted
from rldebug.forensics.worlds import training_streams
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class RewardShiftedByItsMean(Rule):
    """A running mean is subtracted from rewards.

    ## What it checks
    The critic's targets follow a known formula of returns if, and only if, the reward of each step is taken times a
    factor, less a number, where both move from step to step as running statistics do. Episodes end at different
    lengths, by what happens in them.

    ## Why it matters
    A constant that is taken off every reward is a price on every further step, or a wage. Where an episode can end
    early it decides whether it should: a task in which it was good to be quick becomes one in which it is good to stay.

    ## Likely causes
    1. The reward is standardised, `(r - mean) / std`, as observations are. Confirm: print what a reward of 0 becomes.
    2. A normaliser that was written for observations is used for rewards. Confirm: the same.

    ## What to try first
    Divide by the deviation of the discounted return, and subtract nothing.

    ## When it is fine
    In tasks without an end, where rewards are measured against their average; episodes of one length.

    ## References
    Stable-Baselines3, *VecNormalize*: rewards are divided, and not centred.
    """

    code: ClassVar[str] = "NRM271"
    name: ClassVar[str] = "reward-shifted-by-its-mean"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    shift: float = 0.02  # of the spread of rewards
    settles: float = 0.01  # by which what is taken off moves: a constant is a choice
    moves: float = 2e-3  # by which the factor changes within a batch: one for the whole batch scales the returns
    terminated: int = 8  # episodes
    share: float = 0.2  # of all episodes, that ended by what happened in them

    def check(self, evidence: Script) -> Iterator[Finding]:
        streams = training_streams(evidence)
        ends = [bool(each) for stream in streams for each in stream.get("terminated") or ()]
        lengths = {int(each) for stream in streams for each in stream.get("lengths") or ()}
        if sum(ends) < max(self.terminated, self.share * len(ends)) or len(lengths) < 2:
            raise NotEnough(f"{sum(ends)} of {len(ends)} episodes ended by what happened in them")
        tried = 0
        for group in groups(evidence, "regression", "target"):
            steps = group.steps
            if formula_of(steps, critic=True) is not None or rescaled(steps) is not None:
                continue
            tried += 1
            found = shifted(steps)
            if found is None:
                continue
            again, factor, constant = found
            formula = right_formula_of(again)
            off = -constant / factor
            spread = float(np.std(steps.reward))
            if formula is None or not self._moving(steps, factor) or spread <= 0:
                continue
            known = off[np.isfinite(off)]
            middle = float(np.median(np.abs(known)))
            # A wage for every step that the program adds itself stays what it is.
            if middle < self.shift * spread or float(np.ptp(known)) < self.settles * middle:
                continue
            yield self.finding(
                "a running mean is subtracted from rewards",
                where=where_of(group.terms),
                seen=f"targets fit to rounding if {np.median(known):.3g} is taken off each reward (from "
                f"{known.min():.3g} to {known.max():.3g}), and the rest is divided by {1 / np.nanmedian(factor):.3g}",
                expected="rewards that are divided by their scale, and not moved",
                help="divide the reward by the deviation only; leave the mean in it",
                confidence=0.88,
            )
            return
        if not tried:
            raise NotEnough("no targets of the critic are left to explain")

    def _moving(self, steps: Steps, factor: Array) -> bool:
        """Whether it changes within a batch, as a statistic of rewards does, and not between batches only."""
        for batch in np.unique(steps.batch):
            own = factor[(steps.batch == batch) & np.isfinite(factor)]
            if len(own) and float(np.ptp(own)) > self.moves * float(np.median(own)):
                return True
        return False
