"""Actions that were taken are ruled out by the mask of the loss."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.surrogates import surrogates
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TakenActionMaskedInLoss(Rule):
    """Actions that were taken are ruled out by the mask of the loss.

    ## What it checks
    Log-probs of the actions in policy losses of discrete choices: whether a part of them is so low that only a mask
    makes them so.

    ## Why it matters
    What was taken cannot have been forbidden. Such rows teach nothing, and in the others the probabilities of the loss
    are those of another choice than was made.

    ## Likely causes
    1. The mask that is stored is that of the next step: it was overwritten before it was put away. Confirm: look up
       the action of ten stored rows in their masks.
    2. Masks are shuffled, flattened or cut otherwise than the actions. Confirm: the same, in a minibatch.
    3. The mask has the other meaning in the loss. Confirm: the same.

    ## What to try first
    `assert mask[action]` for every row, when it is stored and when it is learned from.

    ## When it is fine
    Actions of another player, who has other rules.

    ## References
    Huang and Ontañón, *A Closer Look at Invalid Action Masking in Policy Gradient Algorithms* (2022).
    """

    code: ClassVar[str] = "ACT331"
    name: ClassVar[str] = "taken-action-masked-in-loss"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    follows: ClassVar[tuple[str, ...]] = ("ACT329",)

    ruled: float = -1e4  # nats
    share: float = 0.05  # of the rows of the first loss after acting
    audits: int = 2  # with a first loss that can be judged

    def check(self, evidence: Script) -> Iterator[Finding]:
        seen: dict[int, tuple[int, int]] = {}
        where = None
        for each in surrogates(evidence):
            logp, number = each.term.arrays.get("logp"), each.audit.number
            if not each.fresh or number in seen or logp is None or each.term.get("family") != "categorical":
                continue
            counted = each.counted
            logp = np.ravel(logp).astype(np.float64)
            logp = logp[counted] if counted is not None and counted.size == logp.size else logp
            if len(logp) < 8 or np.isnan(logp).any():
                continue
            seen[number] = int((logp < self.ruled).sum()), len(logp)
            where = where or each.term.where
        if len(seen) < self.audits:
            raise NotEnough(f"{len(seen)} first losses after acting with log-probs of choices, needs {self.audits}")
        out, rows = (sum(each) for each in zip(*seen.values(), strict=True))
        hit = sum(ruled >= self.share * count for ruled, count in seen.values())
        if hit < max(self.audits, 0.5 * len(seen)):
            return
        yield self.finding(
            "actions that were taken are forbidden by the mask of the loss",
            where=where,
            seen=f"{out} of {rows} log-probs below {self.ruled:g} in the first losses after acting",
            expected="the mask that the action was chosen with",
            help="store the mask with the observation, before the environment steps; assert mask[action] in every row",
            confidence=0.96,
        )
