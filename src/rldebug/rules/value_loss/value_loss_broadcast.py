"""The value loss compares every prediction with every target."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from rldebug.evidence.run import Run
from rldebug.evidence.together import together
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ValueLossBroadcast(Rule):
    """The value loss compares every prediction with every target.

    ## What it checks
    The value loss handed over equals, to rounding, a square or Huber loss over all *pairs* of rows, and is not any of
    the usual losses over the rows themselves. Exact; one update is enough.

    ## Why it matters
    `(N, 1) − (N,)` is `(N, N)` in torch, without an error. The minimum of that loss is the mean target for every row:
    the critic learns the batch mean and nothing else.

    ## Likely causes
    1. The critic puts out `(N, 1)` and the targets are `(N,)`. Confirm: the shapes in this finding.
    2. Targets were unsqueezed once too often. Confirm: print `(value - target).shape`; it must have N elements.

    ## What to try first
    `assert value.shape == target.shape` on the line before the loss.

    ## When it is fine
    Never, where the rule fires. Batches of one row, and batches whose targets and predictions are constant, give the
    same loss either way and are not judged.

    ## References
    hungtuchen/pytorch-dqn issue 3. thu-ml/tianshou PR 155.
    """

    code: ClassVar[str] = "VAL005"
    name: ClassVar[str] = "value-loss-broadcast"
    severity: ClassVar[Severity] = "error"
    needs: ClassVar[tuple[str, ...]] = ("loss/value_mismatch", "loss/value_outer_mismatch")
    trap: ClassVar[bool] = True

    equal: float = 2e-5  # relative error that rounding leaves
    differs: float = 2e-4  # relative error that rounding does not leave
    alone: float = 3e-6  # relative error asked of a single reading, where there is no second one

    def check(self, evidence: Run) -> Iterator[Finding]:
        rows, pairs = together(evidence, "loss/value_mismatch", "loss/value_outer_mismatch")
        judged = rows.value > self.differs
        if not len(rows):
            raise NotEnough("no update whose loss could be recomputed")
        hits = judged & (pairs.value < self.equal)
        # A chance hit is one in thousands; a loss that is a broadcast is one on every update.
        if not hits.any() or hits.sum() < 0.9 * judged.sum():
            return
        if hits.sum() == 1 and pairs.value[hits][0] > self.alone:
            return
        first = int(np.flatnonzero(hits)[0])
        shapes = self._shapes(evidence)
        yield self.finding(
            "the value loss is taken over all pairs of rows",
            where=replace(evidence.call("update"), update=int(rows.update[first]), env_step=int(rows.env_step[first])),
            seen=f"{shapes}the loss is the mean over all N × N pairs (relative error {pairs.value[first]:.0e}), not "
            f"over the N rows (relative error {rows.value[first]:.2g}), in {hits.sum()} of {len(rows)} readings",
            expected="the mean over the N rows; value and target of the same shape",
            help="give value and target the same shape before the loss: value.squeeze(-1)",
            confidence=0.99,
        )

    def _shapes(self, run: Run) -> str:
        for _, fact in run.facts("shapes"):
            given: dict[str, Any] = fact
            if "value" in given and "target" in given:
                return f"value {tuple(given['value'])}, target {tuple(given['target'])}: "
        return ""
