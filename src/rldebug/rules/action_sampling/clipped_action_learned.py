"""The log-prob is that of the action before clipping, the stored action the clipped one."""

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
class ClippedActionLearned(Rule):
    """The action of the loss was clipped after its log-prob was taken.

    ## What it checks
    In the first loss after acting the ratio must be 1. Reported where it is so for actions inside the bounds of the
    action space, and not for those that lie exactly on a bound.

    ## Why it matters
    The ratio compares the densities of two different actions: rows at the bounds are clipped or weighted at random.

    ## Likely causes
    1. The action is clipped for the environment, and the clipped one is stored beside the log-prob of the raw one.
       Confirm: compute the log-prob of the stored action right after acting.

    ## What to try first
    Store the raw action, and clip only what is given to `step`.

    ## When it is fine
    The raw action is stored, or the log-prob is taken of the clipped one: the ratio is 1 in all rows.

    ## References
    Fujita and Maeda, *Clipped Action Policy Gradient* (2018).
    Seen in the wild: ACT-01 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "ACT320"
    name: ClassVar[str] = "clipped-action-learned"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "clipped"

    audits: int = 2  # with a first loss after acting
    rows: int = 8  # on a bound, in all
    apart: float = 0.02  # nats

    def check(self, evidence: Script) -> Iterator[Finding]:
        inside: list[float] = []
        bound: list[float] = []
        numbers, where = set(), None
        for each in surrogates(evidence):
            action, ratio = each.term.arrays.get("action"), each.ratio
            if not each.fresh or action is None or ratio is None or len(action) != len(ratio) or not (ratio > 0).all():
                continue
            if each.audit.number in numbers:
                continue
            numbers.add(each.audit.number)
            action = np.asarray(action, dtype=np.float64).reshape(len(ratio), -1)
            # Numbers that come up again and again at the end of the range: nothing else piles up in a density.
            ends = np.zeros(len(ratio), dtype=bool)
            for column in action.T:
                for end in (column.min(), column.max()):
                    at = np.abs(column - end) <= 1e-6 * max(1.0, abs(end))
                    if at.sum() >= 2:
                        ends |= at
            away = np.abs(np.log(ratio))
            inside += away[~ends].tolist()
            bound += away[ends].tolist()
            where = where or each.term.where
        if len(numbers) < self.audits or len(bound) < self.rows or len(inside) < self.rows:
            raise NotEnough(f"{len(bound)} actions on a bound in first losses after acting, needs {self.rows}")
        if np.quantile(inside, 0.95) > 1e-3 or np.mean(np.array(bound) > self.apart) < 0.8:
            return
        yield self.finding(
            "the action of the loss was clipped after its log-prob was taken",
            where=where,
            seen=f"a ratio of 1 in the {len(inside)} rows inside the bounds, and "
            f"off by {np.median(bound):.2g} nats in the {len(bound)} on them",
            expected="a ratio of 1 in all rows of the first loss after acting",
            help="store the raw action, and clip only what is given to env.step",
            confidence=0.97,
        )
