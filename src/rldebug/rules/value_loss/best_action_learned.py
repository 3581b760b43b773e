"""The value of the best action is learned, whatever was done."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.roles import known_rows
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class BestActionLearned(Rule):
    """The value of the best action is learned, whatever was done.

    ## What it checks
    Regressions whose predictions are the largest output of each row, with rows that are known steps of an environment
    with so many actions, where another action was executed in many of them. From the graph of the loss; exact.

    ## Why it matters
    What came of one action is learned as the value of another: the one that was thought best already.

    ## Likely causes
    1. `q(obs).max(dim=1)` was written for the prediction as for the target. Confirm: read the line of the prediction.
    2. `gather` with `q.argmax(...)` in the place of the stored actions. Confirm: the same.

    ## What to try first
    `q(obs).gather(1, action[:, None]).squeeze(1)`.

    ## When it is fine
    Where no action was chosen from these observations; such rows are not counted.

    ## References
    Mnih et al. 2015, algorithm 1.
    """

    code: ClassVar[str] = "VAL281"
    name: ClassVar[str] = "best-action-learned"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "predicted"

    rows: int = 64  # that can be compared, in all
    wrong: float = 0.1  # share of them in which another action was executed
    audits: int = 2  # in which it was so

    def check(self, evidence: Script) -> Iterator[Finding]:
        compared = differing = 0
        seen: set[int] = set()
        worst = None
        for audit, term in evidence.terms("regression"):
            best, ids = term.arrays.get("argmax"), term.arrays.get("rows")
            if best is None or ids is None or len(best) != len(ids) or audit.nodes.action.shape[1:] != (1,):
                continue
            keep = known_rows(audit, term)
            places = audit.nodes.index(ids[keep])
            done = audit.nodes.acted[places] & ~audit.nodes.phantom[places]
            executed = audit.nodes.action[places, 0][done]
            missed = executed != np.asarray(best, dtype=np.float64)[keep][done]
            compared += len(executed)
            differing += int(missed.sum())
            if missed.any():
                seen.add(audit.number)
                worst = worst or term
        if compared < self.rows:
            raise NotEnough(f"{compared} rows whose largest value is learned could be traced to an action")
        if worst is not None and differing > self.wrong * compared and len(seen) >= self.audits:
            yield self.finding(
                "the value of the best action is learned, whatever was done",
                where=worst.where,
                seen="the largest output is the prediction; another action was executed in "
                f"{differing} of {compared} rows",
                expected="the output of the action that was executed",
                help="q(obs).gather(1, action[:, None]).squeeze(1)",
                confidence=0.95,
            )
