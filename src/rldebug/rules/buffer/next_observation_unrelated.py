"""Next observations in the batch do not follow from the observations beside them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.bootstraps import Pair, by_prediction, without_gradient
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class NextObservationUnrelated(Rule):
    """Next observations do not follow from the observations beside them.

    ## What it checks
    Rows of a Q-regression, and rows of the networks that make its target, are traced back to their environment steps.
    In no call of the update do they follow, one step or several later, from the observations that are predicted.

    ## Why it matters
    The value of each action is bootstrapped from states that it did not lead to: Q converges to something else.

    ## Likely causes
    1. Observations and next observations are drawn or shuffled with different indices. Confirm: print the indices.
    2. The columns of the buffer are written at different positions. Confirm: compare row 0 of both columns with the
       first step.
    3. The next observation is that of the step before. Confirm: print the first three transitions.

    ## What to try first
    Number the steps in the environment's info, store the number in both columns, and compare them in a batch.

    ## When it is fine
    Nothing that is known of. Batches with n-step returns follow n steps later, and are not counted.

    ## References
    Seen in the wild: BUF-07 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "BUF303"
    name: ClassVar[str] = "next-observation-unrelated"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "rows"
    follows: ClassVar[tuple[str, ...]] = ("BUF306",)

    batches: int = 3  # that can be judged
    related: float = 0.3  # share of rows that follow, or are the same: then this is another mistake, or none

    def check(self, evidence: Script) -> Iterator[Finding]:
        judged = wrong = rows = 0
        audits: set[int] = set()
        where: Event | None = None
        before: list[int] = []
        for _, pairs in by_prediction(evidence):
            others = [each for each in pairs if without_gradient(evidence, each.call)]
            if not others:
                continue
            judged += 1
            if any(each.later >= self.related or each.same >= self.related for each in pairs if each in others):
                continue
            if any(each.later >= self.related for each in pairs):
                continue
            wrong += 1
            rows += others[0].size
            audits.add(others[0].audit.number)
            where = where or others[0].call.event
            before += _steps_before(others[0])
        if judged < self.batches:
            raise NotEnough(f"{judged} batches of a Q-regression could be traced to the environment")
        if where is None or wrong < judged or len(audits) < 2:
            return
        steps, counts = np.unique(before, return_counts=True)
        fixed = len(before) > 0.7 * rows and counts.max() > 0.8 * len(before)
        what = f"observations {steps[counts.argmax()]} steps earlier" if fixed else "observations of other steps"
        yield self.finding(
            "the next observations do not follow from the observations beside them",
            where=where.where,
            seen=f"{what} in {wrong} of {judged} batches ({rows} rows)",
            expected="the observations that the steps led to",
            help="index every column of the buffer with the same indices, and write them in the same line",
            confidence=0.95,
        )


def _steps_before(pair: Pair) -> list[int]:
    nodes, s, t = pair.audit.nodes, pair.predicted[pair.sure], pair.called[pair.sure]
    own = (nodes.lane[s] == nodes.lane[t]) & (nodes.stream[s] == nodes.stream[t])
    apart = (nodes.call[s] - nodes.call[t])[own]
    return [int(each) for each in apart if 0 < each <= 64]
