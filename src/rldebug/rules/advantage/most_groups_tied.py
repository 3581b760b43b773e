"""In most groups all answers have the same reward."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.generations import Generations
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class MostGroupsTied(Rule):
    """In most groups all answers have the same reward.

    ## What it checks
    The share of groups whose answers all have the same reward, in the later half of the rounds.

    ## Why it matters
    Such a group has no advantage: its answers cost as much to write as any others, and teach nothing. With few groups
    left the gradient is noise.

    ## Likely causes
    1. The task is too hard: no answer earns anything. Confirm: the mean reward lies at its lower end.
    2. The task is too easy by now. Confirm: the mean reward lies at its upper end.
    3. The reward is too coarse. Confirm: count the values that it takes.

    ## What to try first
    Choose prompts that some answers get right and some do not; more answers to a prompt; partial credit.

    ## When it is fine
    At the end of a training that has succeeded.

    ## References
    DAPO, section 3.2 (dynamic sampling); rldoctor's advantage_collapse, rlprobe's DEGENERATE_GROUPS.
    """

    code: ClassVar[str] = "ADV514"
    name: ClassVar[str] = "most-groups-tied"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Generations"
    follows: ClassVar[tuple[str, ...]] = (
        "ACT510",
        "ENV510",
        "ENT510",
        "SEE510",
        "OPT510",
    )

    share: float = 0.75  # of groups
    groups: int = 16  # late ones that are needed

    def check(self, evidence: Generations) -> Iterator[Finding]:
        tied = whole = 0
        rewards = []
        for each in evidence.rounds[len(evidence.rounds) // 2 :]:
            reward = each.column("reward")
            for rows in each.groups(evidence.size):
                if evidence.size > 1 and np.isfinite(reward[rows]).all():
                    whole += 1
                    tied += float(np.ptp(reward[rows])) <= 1e-9
                    rewards.append(float(reward[rows].mean()))
        if whole < self.groups:
            raise NotEnough(f"{whole} late groups with rewards, needs {self.groups}")
        if tied < self.share * whole:
            return
        every = evidence.all("reward")
        low, high = float(np.nanmin(every)), float(np.nanmax(every))
        level = (float(np.mean(rewards)) - low) / (high - low) if high > low else 0.0
        hard = level < 0.5
        yield self.finding(
            "in most groups all answers have the same reward: there is nothing to learn from them",
            seen=f"{tied} of {whole} late groups; the mean reward is {np.mean(rewards):.3g}, within "
            f"{low:.3g} … {high:.3g}",
            expected="answers to a prompt that differ in their reward",
            help="easier prompts, partial credit or more answers to a prompt: hardly any earns a reward"
            if hard
            else "harder prompts: nearly all answers earn the reward",
            confidence=0.8,
        )
