"""The loss takes the prediction at the next state's best action, not at the action that was taken."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Audit, Event, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.target_next import chances, said_before
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ValueOfNextActionLearned(Rule):
    """The loss takes the prediction at the next state's best action.

    ## What it checks
    The action whose value, or distribution of returns, a loss picks out in each row, beside the action that a network
    thought best in another batch of the same update. They are the same in all rows, while the best action is now this
    one and now that one.

    ## Why it matters
    What a step brought is credited to an action that was not taken. The values of the actions that were are never
    learned.

    ## Likely causes
    1. Two names for two actions, `a` and `a2`, and the wrong one in the index. Confirm: print both, and the actions
       of the batch.
    2. The name of the stored action is bound to the best next one before the loss is computed. Confirm: the same.

    ## What to try first
    `q(obs)[rows, action]` with the action of the batch; the best next action belongs to the target only.

    ## When it is fine
    Never, as far as we know.

    ## References
    Mnih et al. 2015, *Human-level control through deep reinforcement learning*.
    """

    code: ClassVar[str] = "VAL261"
    name: ClassVar[str] = "value-of-next-action-learned"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "loss"
    explains: ClassVar[tuple[str, ...]] = ("BUF354", "BUF300", "BUF303", "ACT300")

    rows: int = 256  # of losses
    audits: int = 2  # in which there are such
    same: float = 0.98  # of the rows
    usual: float = 0.8  # of them have the commonest action, at most

    def check(self, evidence: Script) -> Iterator[Finding]:
        found: dict[str, list[tuple[int, np.ndarray, np.ndarray, Event]]] = defaultdict(list)
        for audit, term in evidence.events("term"):
            for module, index, best in _beside(audit, term):
                found[module].append((audit.number, index, best, term))
        if not found:
            raise NotEnough("no loss that picks an action was seen beside a call on other rows")
        for module, several in found.items():
            index, best = (np.concatenate([each[at] for each in several]) for at in (1, 2))
            counts = np.unique(best, return_counts=True)[1]
            if len(index) < self.rows or len({each[0] for each in several}) < self.audits:
                continue
            if (index == best).mean() < self.same or counts.max() > self.usual * len(best):
                continue
            yield self.finding(
                "the loss is computed for the best action of the next state, not for the one that was taken",
                where=several[0][3].where,
                seen=f"in {int((index == best).sum())} of {len(index)} rows the action of the loss is the one that "
                f"{module} thought best in another batch of the same update",
                expected="the action that was stored with the observation",
                help="index the prediction with the action of the batch",
                confidence=0.95,
            )
            return


def _beside(audit: Audit, term: Event) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """For each network that was asked about as many other rows: the actions of the loss, and those it thought best."""
    rows, index = term.arrays.get("rows"), term.arrays.get("index")
    if rows is None or index is None or np.size(index) != len(rows) or len(rows) < 8:
        return
    if term["kind"] != "regression" and term.get("op") != "soft-cross-entropy":
        return
    target = term.arrays.get("target")
    atoms = target.shape[1] if target is not None and target.ndim == 2 and target.shape[1] > 2 else 0
    taken = np.ravel(index)
    for one in said_before(audit, replace(term, detail={**term.detail, "atoms": None, "quantiles": None})):
        if len(one.rows) != len(rows) or (one.rows == rows).mean() > 0.5:
            continue
        if min((one.rows >= 0).mean(), (rows >= 0).mean()) < 0.5:
            continue  # the same observations, changed in a way that nobody knows
        output = one.output
        if atoms:
            chance = chances(output, atoms)
            if chance is None:
                continue
            output = chance @ np.arange(atoms)
        if output.shape[1] > 1 and np.isfinite(output).all():
            yield one.module, taken, output.argmax(axis=1)
