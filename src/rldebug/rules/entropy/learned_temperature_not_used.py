"""A temperature is learned, and the losses go on with an old one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.temperature import temperatures
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class LearnedTemperatureNotUsed(Rule):
    """A temperature is learned, and the losses go on with an old one.

    ## What it checks
    The number that is learned as temperature has changed, by half a percent and more, over ten steps and more, while
    the factor of the log-prob in the actor's loss has stayed the same to six digits.

    ## Why it matters
    The entropy is never steered: the bonus stays what it was at the start.

    ## Likely causes
    1. `alpha = log_alpha.exp()` is computed once, before the loop, or is not computed again after the step. Confirm:
       print both in the loop.
    2. Losses use the constant of the configuration. Confirm: read the line of the actor's loss.

    ## What to try first
    Compute `log_alpha.exp().detach()` in every update.

    ## When it is fine
    A temperature that is learned for the log only.

    ## References
    Haarnoja et al. 2018, *Soft Actor-Critic Algorithms and Applications*.
    """

    code: ClassVar[str] = "ENT363"
    name: ClassVar[str] = "learned-temperature-not-used"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "loss"

    moved: float = 0.005  # of the temperature
    steps: int = 10  # that must be there

    def check(self, evidence: Script) -> Iterator[Finding]:
        found = temperatures(evidence)
        if len(found) != 1:
            raise NotEnough("not one temperature was seen to be learned")
        used: list[float] = []
        first: Event | None = None
        for _, term in evidence.terms("output"):
            if (
                term.get("op") == "logp"
                and (term.get("attached") or {}).get("action")
                and term.get("reduction") == "mean"
            ):
                used.append(float(term["coefficient"]))
                first = first or term
        values = [
            float(event["before"][0])
            for _, event in evidence.events("scalar")
            if event["optimizer"] == found[0].optimizer
        ]
        if len(used) < 4 or len(values) < self.steps or first is None:
            raise NotEnough(f"{len(used)} losses with a temperature, needs 4")
        if min(used) <= 0 or float(np.ptp(used)) > 1e-6 * abs(used[0]):
            return
        moved = math.exp(min(max(values) - min(values), 50.0)) - 1.0
        if moved >= self.moved:
            yield self.finding(
                "the temperature is learned and not used",
                where=first.where,
                seen=f"the learned number went from {values[0]:.4g} to {values[-1]:.4g}; the factor of the log-prob in "
                f"the actor's loss stayed {used[0]:.6g}",
                expected="the temperature as it was learned",
                help="compute alpha = log_alpha.exp() anew in every update",
                confidence=0.93,
            )
