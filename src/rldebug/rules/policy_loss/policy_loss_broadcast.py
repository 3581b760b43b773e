"""The policy loss multiplies every log-prob with every advantage."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class PolicyLossBroadcast(Rule):
    """The policy loss pairs each log-prob with every advantage.

    ## What it checks
    The policy loss is computed once more from the rows handed over, row by row and over all pairs of rows. Reported
    where the loss is, to the last digits, the one over all pairs in all detailed readings, and not the one row by row.

    ## Why it matters
    `(N,) * (N, 1)` is an `(N, N)` matrix, and its mean is mean(log π) · mean(A): which action paid off has dropped out.
    All actions are pushed up or down together. There is no error message.

    ## Likely causes
    1. The advantage or the log-prob has a trailing axis of 1, from a critic that returns `(N, 1)`. Confirm: print both
       shapes at the line of the loss.
    2. The log-probs are averaged before they are multiplied. Confirm: `.mean()` inside the product.
    3. `keepdim=True`, `[:, None]` or `unsqueeze` left over. Confirm: search for them.

    ## What to try first
    `assert logp.shape == advantage.shape` before the product.

    ## When it is fine
    Never: the product over all pairs carries no information about single actions.

    ## References
    The PyTorch documentation on broadcasting semantics.
    """

    code: ClassVar[str] = "POL008"
    name: ClassVar[str] = "policy-loss-broadcast"
    severity: ClassVar[Severity] = "error"
    needs: ClassVar[tuple[str, ...]] = ("loss/policy", "loss/policy_mismatch", "loss/policy_outer_mismatch")

    exact: float = 1e-4  # relative error up to which a formula fits
    apart: float = 1e-3  # relative error from which on a formula does not fit
    readings: int = 2  # detailed readings in which the two formulas can be told apart

    def check(self, evidence: Run) -> Iterator[Finding]:
        rows, pairs = evidence["loss/policy_mismatch"].finite, evidence["loss/policy_outer_mismatch"].finite
        rows = rows.keep(np.isin(rows.update, pairs.update))
        pairs = pairs.keep(np.isin(pairs.update, rows.update))
        if np.any(pairs.value > self.exact):
            return
        told = (rows.value > self.apart) & (rows.value > 100 * pairs.value)
        if int(np.sum(told)) < self.readings:
            raise NotEnough(f"{int(np.sum(told))} detailed readings tell rows from pairs, needs {self.readings}")
        shapes = self._shapes(evidence)
        loss = evidence["loss/policy"].finite
        size = np.abs(loss.keep(np.isin(loss.update, rows.update)).value)
        # A loss of 0 fits the product of normalised advantages, whose mean is 0, whatever it was computed from.
        if not np.median(size) > (0.0 if shapes else 1e-5):
            return
        at = int(np.flatnonzero(told)[0])
        yield self.finding(
            "the policy loss multiplies every log-prob with every advantage",
            where=replace(
                evidence.call("update"),
                update=int(rows.update[at]),
                env_step=int(rows.env_step[at]),
                tensor="policy loss",
            ),
            seen=f"the loss over all pairs of rows in {len(pairs)} of {len(pairs)} detailed updates (relative error "
            f"{pairs.max():.0e}; row by row {np.median(rows.value[told]):.1e}){shapes}",
            expected="the loss row by row: log-probs and advantages of one shape, (N,)",
            help="give both the same shape, for example advantage.squeeze(-1), and assert it",
            confidence=0.98 if shapes else 0.95,
        )

    def _shapes(self, run: Run) -> str:
        for _, shapes in run.facts("shapes"):
            logp, advantage = shapes.get("logp_new"), shapes.get("advantage")
            if not logp or not advantage or list(logp) == list(advantage):
                continue
            if [each for each in logp if each != 1] == [each for each in advantage if each != 1]:
                return f"; log-probs {tuple(logp)}, advantages {tuple(advantage)}"
        return ""
