"""The score of an answer is given to a token that was not written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.token_critic import Credit, recursion, told
from rldebug.forensics.token_rewards import tables
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ScoreAtAnotherToken(Rule):
    """The score of an answer is given to a token that was not written.

    ## What it checks
    The program holds one score for each answer, and one reward for each token. In answers that ended early the
    score lies on a place after the end, where only filler is.

    ## Why it matters
    The filler is masked out, so the score is lost, or it is credited to a choice that nobody made.

    ## Likely causes
    1. The score is added at the last column, not at the last written token. Confirm: compare the column with the
       length of the answer.
    2. The index of the last token is one too large. Confirm: the same.

    ## What to try first
    Add the score at `mask.sum(1) - 1`.

    ## When it is fine
    Never: after the end nothing is chosen.

    ## References
    Bug kind ADV-11 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "ADV374"
    name: ClassVar[str] = "score-at-another-token"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    answers: int = 12  # that ended early and have a score of their own
    share: float = 0.9  # of them that have it after the end

    def check(self, evidence: Script) -> Iterator[Finding]:
        judged, found = 0, None
        for table in tables(evidence):
            rows = np.flatnonzero(table.ended & (table.length > 0))
            for vector_name, scores in table.vectors:
                for name, rewards in table.matrices:
                    near = np.abs(rewards - scores[:, None])
                    best = near.argmin(axis=1)
                    tolerance = 0.02 * float(scores.std())
                    at = rows[(near.min(axis=1)[rows] <= tolerance) & (np.abs(scores[rows]) > 5 * tolerance)]
                    if len(at) < max(self.answers, 0.8 * len(rows)) or len(np.unique(np.round(scores[at], 6))) < 3:
                        continue  # a matrix that does not hold these scores
                    others = np.sort(near[at], axis=1)[:, 1]
                    if float((others <= tolerance).mean()) > 0.2:
                        continue  # the same number all over the row
                    judged += 1
                    if float((best[at] >= table.length[at]).mean()) >= self.share:
                        found = found or (table, vector_name, name, len(at))
        lost = [
            (fit, count) for each in told(evidence) if (fit := recursion(each)) and (count := _lost(fit)) is not None
        ]
        if found is None and lost and all(count for _, count in lost):
            fit, count = lost[0]
            yield self.finding(
                "answers that ended early get no score",
                where=fit.told.policy.call.where,
                seen=f"a reward of nothing but the penalty at the last token of {count} of them, in what the critic "
                "learns; those that were cut off get one",
                expected="the score on the last written token",
                help="add the score at the last written token of each answer, mask.sum(1) - 1",
                confidence=0.9,
            )
            return
        if not judged and not lost:
            raise NotEnough("no matrix of rewards, with the score of each answer at one of its tokens, was found")
        if found is None:
            return
        table, vector_name, name, count = found
        yield self.finding(
            f"`{vector_name}` is given to tokens of `{name}` that were not written",
            where=table.round.passes[0].call.where,
            seen=f"after the end in {count} answers that ended early",
            expected="the score on the last written token",
            help="add the score at the last written token of each answer, mask.sum(1) - 1",
            confidence=0.93,
        )


def _lost(fit: Credit) -> int | None:
    """How many answers ended early and got nothing for it; 0 where they got something. None where few did, or where no
    other answer got anything either."""
    policy, rows = fit.told.policy, np.arange(len(fit.rewards))
    last = fit.rewards[rows, policy.length - 1]
    if fit.told.divergence is not None and fit.penalty is not None:
        last = last - fit.penalty * fit.told.divergence[rows, policy.length - 1]
    cut = np.abs(last[~policy.ended])
    if policy.ended.sum() < 4 or not len(cut) or cut.mean() < 0.05:
        return None
    return int(policy.ended.sum()) if np.abs(last[policy.ended]).max() < 0.01 * cut.mean() else 0
