"""The loss drives the policy away from the reference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.generations import Generations
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class DivergencePushedUp(Rule):
    """The loss drives the policy away from the reference.

    ## What it checks
    Within each answer of a first pass, how the gradient goes with the distance to the reference: tokens that have
    become likelier than to the reference must be pushed down. And the estimate of the divergence, which is never
    below 0.

    ## Why it matters
    A penalty with the wrong sign is a reward for drifting away: the policy breaks down into noise, slowly.

    ## Likely causes
    1. The penalty is subtracted from the loss, or `beta` is negative. Confirm: look at the sign.
    2. The log-ratio is taken the other way round, as the reference minus the policy. Confirm: the estimate falls
       below 0.

    ## What to try first
    Add `beta * (exp(ref - logp) - (ref - logp) - 1)` to the loss.

    ## When it is fine
    Never.

    ## References
    Schulman, Approximating KL Divergence.
    """

    code: ClassVar[str] = "POL517"
    name: ClassVar[str] = "divergence-pushed-up"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Generations"

    hold: float = -0.3  # mean correlation of gradient and distance, below which it is told
    answers: int = 8  # that are needed
    below: float = -0.001  # an estimate that is below 0

    def check(self, evidence: Generations) -> Iterator[Finding]:
        hold = evidence.passed("hold", fresh=True)
        hold = hold[np.isfinite(hold)]
        logged = evidence.logged("kl") if evidence.settings.get("algorithm") == "GRPOTrainer" else np.empty(0)
        if len(hold) < self.answers and not len(logged):
            raise NotEnough(f"the pull of the reference on {len(hold)} answers, needs {self.answers}")
        if len(hold) >= self.answers and float(hold.mean()) < self.hold:
            yield self.finding(
                "the loss drives the policy away from the reference",
                seen=f"gradient and distance to the reference have correlation {hold.mean():.2f} over "
                f"{len(hold)} answers; beta is "
                f"{evidence.settings.get('beta')}",
                expected="tokens that are likelier than to the reference are pushed down",
                help="add the divergence to the loss, with a positive beta",
                confidence=0.95,
            )
        elif len(logged) and float(np.nanmin(logged)) < self.below:
            yield self.finding(
                "the estimate of the divergence from the reference is below 0",
                seen=f"down to {np.nanmin(logged):.3g} in {int((logged < self.below).sum())} of "
                f"{len(logged)} logged steps",
                expected="exp(ref - logp) - (ref - logp) - 1, which is never below 0",
                help="look at the order of the difference, and at the sign of each part",
                confidence=0.9,
            )
