"""Answers are trained with the advantages of other answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.generations import Generations
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class AdvantageOfAnotherAnswer(Rule):
    """Answers are trained with the advantages of other answers.

    ## What it checks
    An answer keeps its advantage from scoring to the loss, and a better answer of a group has no lower one. Here rows
    have changed places in between.

    ## Why it matters
    Good and bad answers are pushed at random: the loss looks as always, and nothing is learned.

    ## Likely causes
    1. Answers are shuffled or sorted after scoring, and advantages are not, or not in the same way. Confirm: follow
       one row.
    2. Rewards are gathered from processes in one order and sliced in another. Confirm: train with one process.
    3. Advantages are repeated with `repeat` where `repeat_interleave` is meant. Confirm: look at the call.

    ## What to try first
    Permute all tensors of a batch with one and the same index.

    ## When it is fine
    Several objectives that are normalised apart, or a divergence that counts as reward, change the order within a
    group; where the library does so, nothing is said.

    ## References
    TRL, `shuffle_sequence_dict`.
    """

    code: ClassVar[str] = "ADV513"
    name: ClassVar[str] = "advantage-of-another-answer"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Generations"
    follows: ClassVar[tuple[str, ...]] = ("ADV510",)

    share: float = 0.2  # of answers, or of pairs in a group, that do not fit
    answers: int = 16  # that are needed, and pairs

    def check(self, evidence: Generations) -> Iterator[Finding]:
        advantage, given = evidence.passed("advantage"), evidence.passed("given")
        known = np.isfinite(given) & np.isfinite(advantage)
        off = np.abs(advantage - given) > 1e-3 * (1.0 + np.abs(given))
        count, wrong = int(known.sum()), int((off & known).sum())
        pairs, turned = _pairs(evidence)
        if max(count, pairs) < self.answers:
            raise NotEnough(f"{count} answers in losses and {pairs} pairs in groups, needs {self.answers}")
        if count >= self.answers and wrong >= self.share * count:
            yield self.finding(
                "in the loss, answers have other advantages than they were given",
                seen=f"{wrong} of {count} answers have another advantage in the loss than when they were scored",
                expected="an answer keeps its advantage",
                help="shuffle, sort and slice answers and advantages with one and the same index",
                confidence=0.95,
            )
        elif pairs >= self.answers and self.share * pairs <= turned < 0.8 * pairs:
            yield self.finding(
                "advantages are not in the order of the rewards: they belong to other answers",
                seen=f"in {turned} of {pairs} pairs within groups the better answer has the lower advantage",
                expected="more reward, more advantage",
                help="follow one row from the reward function to the advantage: gather, repeat and view must agree",
                confidence=0.9,
            )


def _pairs(evidence: Generations) -> tuple[int, int]:
    """Pairs of answers within groups whose rewards differ; and those of them whose advantages differ the other way."""
    settings = evidence.settings
    several = len(evidence.functions()) > 1 and settings.get("multi_objective_aggregation") == "normalize_then_sum"
    if several or (settings.get("algorithm") == "RLOOTrainer" and settings.get("beta")):
        return 0, 0
    pairs = turned = 0
    for each in evidence.rounds:
        reward, advantage = each.column("reward"), each.column("advantage")
        for rows in each.groups(evidence.size):
            better = reward[rows][:, None] - reward[rows][None, :]
            ahead = advantage[rows][:, None] - advantage[rows][None, :]
            pairs += int((better > 1e-6).sum())
            turned += int(((better > 1e-6) & (ahead < -1e-6)).sum())
    return pairs, turned
