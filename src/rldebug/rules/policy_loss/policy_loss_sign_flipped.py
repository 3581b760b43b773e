"""The policy loss is the objective without its minus."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class PolicyLossSignFlipped(Rule):
    """The policy loss has the wrong sign: good actions become rarer.

    ## What it checks
    The policy loss is computed once more from the rows handed over: −mean log π · A, −mean r · A and the clipped
    surrogate, with advantages as given or normalised. Reported where the loss is one of these formulas, to the last
    digits, with the sign flipped, in all detailed readings, and not one of them as it should be. Quiet where later
    minibatches, or the returns, show that the policy follows the advantages all the same.

    ## Why it matters
    The optimizer makes the loss smaller. Without the minus it makes the actions that turned out well less likely: the
    agent learns to fail.

    ## Likely causes
    1. The minus in front of the policy term is missing. Confirm: the line that computes it has no minus, neither there
       nor where the losses are added.
    2. The minus is there twice: in the term and in the sum. Confirm: `total = -(policy_loss + …)`.
    3. The advantage is baseline − return, and someone corrected for it here. Confirm: ADV003 is reported as well.

    ## What to try first
    Put a minus in front of the policy term.

    ## When it is fine
    The objective was handed over where the loss was asked for, and is negated before the backward pass, or the
    optimizer maximises.

    ## References
    Williams, *Simple Statistical Gradient-Following Algorithms* (1992). Schulman et al., *Proximal Policy Optimization
    Algorithms* (2017).
    """

    code: ClassVar[str] = "POL007"
    name: ClassVar[str] = "policy-loss-sign-flipped"
    severity: ClassVar[Severity] = "error"
    needs: ClassVar[tuple[str, ...]] = ("loss/policy_mismatch", "loss/policy_flipped_mismatch")

    exact: float = 1e-4  # relative error up to which a formula fits
    apart: float = 1e-3  # relative error from which on a formula does not fit
    readings: int = 2  # detailed readings in which the two formulas can be told apart
    alone: float = 1e-2  # relative error from which on a single such reading, fitted to rounding, is enough

    def check(self, evidence: Run) -> Iterator[Finding]:
        right, wrong = evidence["loss/policy_mismatch"].finite, evidence["loss/policy_flipped_mismatch"].finite
        right = right.keep(np.isin(right.update, wrong.update))
        wrong = wrong.keep(np.isin(wrong.update, right.update))
        told = (right.value > self.apart) & (right.value > 100 * wrong.value)
        if np.any(wrong.value > self.exact):
            return
        plain = np.any((right.value > self.alone) & (wrong.value < 1e-5))
        if int(np.sum(told)) < self.readings and not plain:
            raise NotEnough(f"{int(np.sum(told))} detailed readings tell the two signs apart, needs {self.readings}")
        if self._follows_advantage(evidence) or evidence["advantage/residual_corr"].head(0.1).median() < -0.99:
            return  # in the second case the advantage is V − R: two signs that cancel
        at = int(np.flatnonzero(told)[0])
        yield self.finding(
            "the policy loss has the wrong sign",
            where=replace(
                evidence.call("update"),
                update=int(right.update[at]),
                env_step=int(right.env_step[at]),
                tensor="policy loss",
            ),
            seen=f"+mean of the objective in {len(wrong)} of {len(wrong)} detailed updates (relative error "
            f"{wrong.max():.0e}; with a minus {np.median(right.value[told]):.1e})",
            expected="−mean of the objective: what is minimised must fall as good actions become more likely",
            help="put a minus in front of the policy term",
            confidence=0.97,
        )

    def _follows_advantage(self, run: Run) -> bool:
        """Whether the policy moves towards good actions: then what was handed over is not what is minimised."""
        pull = run["policy/advantage_pull"].finite.value
        if len(pull) >= 8:
            return bool(np.mean(pull) > 2 * np.std(pull) / math.sqrt(len(pull)))
        rise = run["episode/return_rise"]
        return len(rise) > 0 and rise.tail(0.2).median() > 4.0
