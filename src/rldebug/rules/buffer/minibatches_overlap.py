"""Minibatches of an epoch overlap: some steps are learned from twice, others not at all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.rollouts import rollouts
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class MinibatchesOverlap(Rule):
    """Minibatches of one epoch overlap, and leave steps out.

    ## What it checks
    In on-policy learning, the rows of successive minibatches are traced back to the steps of the rollout. Before every
    step was used once, many were used twice: as many as independent draws give.

    ## Why it matters
    In each epoch a third of the rollout is not learned from, and another third is learned from twice or more: noise for
    nothing.

    ## Likely causes
    1. Indices of a minibatch are drawn anew from all rows (`randint`, `random.choice`), not taken from one shuffle.
       Confirm: read the line that makes the indices.
    2. The shuffle is made again for every minibatch. Confirm: the same.

    ## What to try first
    `for batch in np.split(rng.permutation(rows), minibatches)`, once for each epoch.

    ## When it is fine
    With many more epochs than needed it only costs time.

    ## References
    Seen in the wild: BUF-27 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "BUF313"
    name: ClassVar[str] = "minibatches-overlap"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "indices"

    rollouts: int = 2  # that show it, and none that does not
    batches: int = 3  # of the first epoch
    share: float = 0.7  # of the repeats that independent draws would give

    def check(self, evidence: Script) -> Iterator[Finding]:
        judged = wrong = 0
        where: Event | None = None
        seen = ""
        for rollout in rollouts(evidence):
            size, taken = int((rollout.counts > 0).sum()), 0  # what is never used is another matter
            epoch = []
            for batch in rollout.batches:
                if taken + len(batch) > size:
                    break
                epoch.append(batch[batch >= 0])
                taken += len(batch)
            if len(epoch) < self.batches or taken < 0.5 * size:
                continue
            drawn = np.concatenate(epoch)
            repeated = len(drawn) - len(np.unique(drawn))
            part = len(drawn) / size
            expected = len(drawn) - size * (1 - np.exp(-part))
            judged += 1
            if repeated > max(self.share * expected, 0.05 * len(drawn)):
                wrong += 1
                where = where or rollout.first
                seen = f"{repeated} of the first {len(drawn)} rows were drawn before, of a rollout of {size} steps"
        if judged < self.rollouts:
            raise NotEnough(f"{judged} rollouts with minibatches could be followed")
        if wrong == judged and where is not None:
            yield self.finding(
                "minibatches of one epoch overlap, and leave steps out",
                where=where.where,
                seen=f"{seen}; so in all of {judged} rollouts",
                expected="every step once before any comes a second time",
                help="shuffle the rows once in an epoch and cut the shuffle into minibatches",
                confidence=0.85,
            )
