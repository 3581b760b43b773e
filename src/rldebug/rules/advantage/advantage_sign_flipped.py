"""Advantages have the wrong sign."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run
from rldebug.evidence.together import together
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class AdvantageSignFlipped(Rule):
    """Advantages have the wrong sign.

    ## What it checks
    On batches that have not been learned from yet, the advantage is a falling straight line of target − value: their
    correlation is −1, to rounding, in every one of them. Exact.

    ## Why it matters
    What turned out better than expected is made less likely, and what turned out worse more: the policy learns to fail.

    ## Likely causes
    1. The operands are swapped: value − return. Confirm: print return, value and advantage of one row.
    2. A cost is treated as a reward on one side only. Confirm: follow the sign from `env.step()` to the loss.

    ## What to try first
    Swap the operands where the advantage is computed.

    ## When it is fine
    Where the policy loss has no minus to make up for it, which is recognised where the loss was handed over.

    ## References
    Schulman et al. 2016, *High-Dimensional Continuous Control Using Generalized Advantage Estimation*.
    """

    code: ClassVar[str] = "ADV003"
    name: ClassVar[str] = "advantage-sign-flipped"
    severity: ClassVar[Severity] = "error"
    aim: ClassVar[str] = "weight"
    needs: ClassVar[tuple[str, ...]] = ("advantage/residual_corr", "batch/rows")

    exact: float = 1e-3  # from −1, which is all that rounding and small steps of the critic leave
    rows: int = 4  # fewer lie on a line by chance
    readings: int = 3  # batches

    def check(self, evidence: Run) -> Iterator[Finding]:
        corr, rows = together(evidence, "advantage/residual_corr", "batch/rows", fresh=True)
        if not len(corr):
            # Nobody says which batches are fresh; in the first updates the critic has hardly moved.
            corr, rows = together(evidence, "advantage/residual_corr", "batch/rows")
            keep = corr.update < 8
        else:
            keep = rows.value >= self.rows
        found, size = corr.value[keep], rows.value[keep]
        if len(found) < self.readings or size.min() < self.rows:
            raise NotEnough(f"{len(found)} batches of {self.rows} rows or more, not learned from yet")
        flipped = found < -1.0 + self.exact
        if flipped.mean() < 0.9 or self._made_up_for(evidence):
            return
        first = int(np.flatnonzero(keep)[0])
        yield self.finding(
            "advantages have the wrong sign",
            where=replace(evidence.call("update"), update=int(corr.update[first]), env_step=int(corr.env_step[first])),
            seen=f"correlation of advantage and target − value {np.median(found):.6f} in {int(flipped.sum())} of "
            f"{len(found)} batches, {int(size.sum())} rows",
            expected="+1 where the advantage is target − value, and positive in any case",
            help="swap the operands: advantage = return − value",
            confidence=0.99,
        )

    def _made_up_for(self, run: Run) -> bool:
        """The policy loss is plus log-prob times advantage: two wrong signs that make a right one."""
        right, flipped = together(run, "loss/policy_mismatch", "loss/policy_flipped_mismatch")
        return bool(len(right)) and bool(np.median(flipped.value) < 1e-4 < 1e-2 < np.median(right.value))
