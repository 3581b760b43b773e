"""The value function says the same for every observation."""

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
class ValueConstant(Rule):
    """The value function says the same for every observation.

    ## What it checks
    Within a batch, predictions do not differ by more than rounding, late in the run and after many updates, while the
    targets do differ and observations do.

    ## Why it matters
    A constant is no baseline and carries nothing backwards: the critic is as good as absent.

    ## Likely causes
    1. All hidden units of the critic are dead, so only its last bias is left. Confirm: `layers/dead` is 1 for a layer.
    2. The critic does not get the observation: zeros, a wrong slice, or one row for all. Confirm: print the critic's
       input for two different states.
    3. Its last layer has zero weights and no gradient. Confirm: the table of gradients shows 0 for that layer.

    ## What to try first
    Call the critic on two very different observations and print both values.

    ## When it is fine
    Environments with a single observation; rewards that are all alike, where targets do not differ either. A running
    mean that is handed over as the value is no critic and is not judged.

    ## References
    Lu et al., *Dying ReLU and Initialization* (2019).
    """

    code: ClassVar[str] = "VAL008"
    name: ClassVar[str] = "value-constant"
    severity: ClassVar[Severity] = "warning"
    needs: ClassVar[tuple[str, ...]] = ("value/std", "value/mean", "target/std", "batch/rows")
    follows: ClassVar[tuple[str, ...]] = ("NET003", "GRA002", "GRA003", "GRA009", "OPT001")
    aftermath: ClassVar[bool] = True

    updates: int = 100  # learner steps after which a zero-initialised head is no excuse
    readings: int = 15  # late in the run
    rounding: float = 1e-6  # spread over size that is only rounding

    def check(self, evidence: Run) -> Iterator[Finding]:
        lines = together(evidence, "value/std", "value/mean", "target/std", "target/mean", "batch/rows")
        spread, value, target_spread, target, rows = (each.tail(0.5) for each in lines)
        if len(spread) < self.readings or spread.updates < self.updates:
            raise NotEnough(
                f"{len(spread)} readings late in {spread.updates} updates, needs {self.readings} in {self.updates}"
            )
        trained = "loss/value" in evidence or "loss/total" in evidence or "critic" in evidence.meta.get("modules", {})
        if not trained:
            raise NotEnough("no critic is watched: the values may be a plain mean")
        constant = spread.value <= self.rounding * np.abs(value.value)
        differ = (target_spread.value > 1e-3 * np.abs(target.value)) & (target_spread.value > 0) & (rows.value > 1)
        if not (constant & differ).all() or not self._observations_vary(evidence, lines[0].value, lines[2].value):
            return
        yield self.finding(
            "the value function says the same for every observation",
            where=replace(evidence.call("update"), update=int(spread.update[0]), env_step=int(spread.env_step[0])),
            seen=f"values {value.median():.4g} ± {spread.max():.1e}, targets {target.median():.4g} ± "
            f"{target_spread.median():.3g} in the last {len(spread)} readings",
            expected="values that differ between observations, as the targets do",
            help="call the critic on two very different observations: are both values equal, and is its input?",
            confidence=0.9,
        )

    def _observations_vary(self, run: Run, value_std: np.ndarray, target_std: np.ndarray) -> bool:
        """Some entries differ within a rollout, or the critic itself told observations apart at first."""
        fixed = run["obs/constant"].finite
        if len(fixed):
            return fixed.median() < 1.0
        return bool(value_std[0] > 1e-3 * target_std[0])
