"""The old log-prob is computed again in every epoch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Event, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.batches import ambiguous
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class OldLogProbMadeAnew(Rule):
    """The old log-prob is computed again in every epoch.

    ## What it checks
    Rows that are learned from more than once, with steps of the optimizer in between. Their log-probs have changed, and
    still the ratio of new to old is 1 in every row.

    ## Why it matters
    The ratio measures how far the policy has gone from the one that acted. If it is always 1 the clipping never acts:
    all epochs push in the same direction, without a limit.

    ## Likely causes
    1. The old log-prob is `log_prob.detach()` of the same call. Confirm: read the line of the ratio.
    2. It is computed anew at the top of each epoch, with the present weights. Confirm: it must be stored while acting,
       or computed once before the first epoch.

    ## What to try first
    Store the log-prob with the action while acting.

    ## When it is fine
    Where every row is learned from once.

    ## References
    Schulman et al. 2017, *Proximal Policy Optimization Algorithms*.
    """

    code: ClassVar[str] = "POL353"
    name: ClassVar[str] = "old-log-prob-made-anew"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "ratio"

    losses: int = 3  # on rows that were learned from before, by a policy that has moved since
    rows: int = 8  # of a loss that were, and that no other row looks like; or nearly all of its rows
    moved: float = 2e-3  # of a log-prob
    one: float = 2e-6  # that the ratio may be off

    def check(self, evidence: Script) -> Iterator[Finding]:
        judged: list[tuple[Event, bool]] = []
        for audit in evidence.audits:
            before: dict[tuple[int, bytes], float] = {}
            for term in audit.terms("policy"):
                rows, ratio = term.arrays.get("rows"), term.arrays.get("ratio")
                taken = _taken(term)
                # What a log-prob lacks depends on the action alone, and is the same for a row whenever it is seen.
                logp = term.arrays.get("logp", term.arrays.get("logp_up_to_constant"))
                if rows is None or ratio is None or logp is None or taken is None:
                    continue
                if not len(rows) or (rows < 0).mean() > 0.1 or not np.size(ratio) == np.size(logp) == len(rows):
                    continue
                if len(taken) != len(rows):
                    continue
                keys = [(int(row), action.tobytes()) for row, action in zip(rows, taken, strict=True)]
                now = np.ravel(logp).astype(np.float64)
                known = np.array([before.get(each, np.nan) for each in keys])
                again = np.isfinite(known)
                if again.mean() <= 0.9:
                    again &= _told_apart(audit, rows, taken)
                if (again.mean() > 0.9 or again.sum() >= self.rows) and (
                    float(np.abs(now - known)[again].max()) > self.moved
                ):
                    still = float(np.abs(np.ravel(ratio) - 1.0).max()) < self.one
                    judged.append((term, still))
                for key, each in zip(keys, now.tolist(), strict=True):
                    before.setdefault(key, each)
        if len(judged) < self.losses:
            raise NotEnough(f"{len(judged)} losses on rows that were learned from before, needs {self.losses}")
        found = [term for term, still in judged if still]
        if len(found) < 0.95 * len(judged):
            return
        yield self.finding(
            "the ratio is 1 although the policy has moved: the old log-prob is made anew in every epoch",
            where=found[0].where,
            seen=f"1 in all rows of {len(found)} losses on rows that were learned from before",
            expected="the new log-prob over the one that was stored while acting",
            help="store the log-prob while acting, and use it in all epochs",
            confidence=0.95,
        )


def _taken(term: Event) -> NDArray[np.float64] | None:
    """The action of each row: its number, or its numbers."""
    action = term.arrays.get("index", term.arrays.get("action"))
    if action is None or not np.ndim(action):
        return None
    return np.ascontiguousarray(np.asarray(action, dtype=np.float64).reshape(len(action), -1))


def _told_apart(audit: Audit, rows: NDArray[np.int64], taken: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Rows that are surely those that they are taken for: by an action of real numbers, or by what was observed."""
    places = audit.nodes.index(rows)
    known = places >= 0
    sure: NDArray[np.bool_] = known & (taken != np.round(taken)).any(axis=1)
    sure[known] |= ~ambiguous(audit.nodes, places[known])
    return sure
