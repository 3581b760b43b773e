"""The old log-prob is computed again in every epoch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
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
    moved: float = 2e-3  # of a log-prob
    one: float = 2e-6  # that the ratio may be off

    def check(self, evidence: Script) -> Iterator[Finding]:
        judged: list[tuple[Event, bool]] = []
        for audit in evidence.audits:
            before: dict[tuple[int, float], float] = {}
            for term in audit.terms("policy"):
                arrays = term.arrays
                rows, ratio, logp = arrays.get("rows"), arrays.get("ratio"), arrays.get("logp")
                action = arrays.get("index")
                if (
                    rows is None
                    or ratio is None
                    or logp is None
                    or action is None
                    or not len(rows)
                    or (rows < 0).mean() > 0.1
                ):
                    continue
                if not np.size(ratio) == np.size(logp) == np.size(action) == len(rows):
                    continue
                keys = list(zip(rows.tolist(), np.ravel(action).astype(float).tolist(), strict=True))
                now = np.ravel(logp).astype(np.float64)
                known = np.array([before.get(each, np.nan) for each in keys])
                again = np.isfinite(known)
                if again.mean() > 0.9 and float(np.abs(now - known)[again].max()) > self.moved:
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
