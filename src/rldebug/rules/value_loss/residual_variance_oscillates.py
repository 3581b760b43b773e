"""The value function's error swings between small and huge."""

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
class ResidualVarianceOscillates(Rule):
    """The value function's error swings between small and huge.

    ## What it checks
    In the last two thirds of the run the residual variance, Var(target − value) / Var(target), goes to and fro, many
    times over, between about as good as a constant (or better) and several times worse. Only errors that are also large
    beside the run's typical target variance count as worse.

    ## Why it matters
    Each swing feeds wrong advantages and wrong bootstrap values into everything that is learned meanwhile.

    ## Likely causes
    1. The learning rate or the momentum of the critic is too high. Confirm: `step/log10_ratio` above −1.5; divide the
       rate by 10, and look at the betas.
    2. Gradients of rare large targets are not clipped. Confirm: `grad/norm` has peaks where the error has them.
    3. Targets jump because the network they come from does. Confirm: `target/mean` swings as well.

    ## What to try first
    Divide the critic's learning rate by 10.

    ## When it is fine
    Tiny batches swing by themselves, and so do batches whose targets happen to be nearly equal; neither counts.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (residual variance). Schulman, *Nuts and Bolts of Deep RL*.
    """

    code: ClassVar[str] = "VAL003"
    name: ClassVar[str] = "residual-variance-oscillates"
    severity: ClassVar[Severity] = "note"
    needs: ClassVar[tuple[str, ...]] = ("value/residual_var", "target/std", "batch/rows")
    follows: ClassVar[tuple[str, ...]] = ("VAL005", "OPT004", "OPT008")

    readings: int = 25  # in the last two thirds of the run
    rows: int = 8  # smaller batches swing by themselves
    high: float = 3.0  # residual variance that counts as worse than a constant
    low: float = 1.2  # residual variance that does not
    share: float = 0.2  # of the readings that must be at either end
    swings: int = 6  # changes from one end to the other

    def check(self, evidence: Run) -> Iterator[Finding]:
        residual, spread, rows = together(evidence, "value/residual_var", "target/std", "batch/rows")
        late, width = residual.tail(2 / 3), spread.tail(2 / 3).value
        if len(late) < self.readings:
            raise NotEnough(f"{len(late)} readings late in the run, needs {self.readings}")
        if rows.quantile(0.1) < self.rows:
            return
        # A batch whose targets happen to be alike makes any error look huge: it must be large beside the others', too.
        worse = (late.value > self.high) & (late.value * width**2 > np.median(width**2))
        ends = np.where(worse, 1, np.where(late.value < self.low, -1, 0))
        outer = ends[ends != 0]
        swings = int(np.sum(outer[1:] != outer[:-1]))
        if min(np.mean(ends == 1), np.mean(ends == -1)) < self.share or swings < self.swings:
            return
        worst = int(np.argmax(np.where(worse, late.value, 0.0)))
        yield self.finding(
            "the value function's error swings between small and huge",
            where=replace(evidence.call("update"), update=int(late.update[worst]), env_step=int(late.env_step[worst])),
            seen=f"residual variance between {late.quantile(0.1):.2g} and {late.quantile(0.9):.2g}, {swings} swings in "
            f"{len(late)} readings",
            expected="a curve that falls and stays below 1",
            help="divide the critic's learning rate by 10, and check its momentum",
            confidence=0.8,
        )
