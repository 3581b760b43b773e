"""The trainer gives answers other log-probs than the sampler did."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.generations import Generations
from rldebug.finding import Finding, Severity
from rldebug.forensics.answers import one_place_off
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class SamplerAndTrainerDisagree(Rule):
    """The trainer gives answers other log-probs than the sampler did.

    ## What it checks
    Each token's log-prob when it was drawn, beside the trainer's before the first update: an estimate of the
    divergence that is never below 0 (k3). Samplers that cut their distribution (top-k, top-p) are left out.

    ## Why it matters
    Answers come from one policy and another is trained with them. Ratios and advantages are those of neither.

    ## Likely causes
    1. Another temperature than the trainer's: `generation_kwargs`, a server's own settings. Confirm: compare the two.
    2. Log-probs are off by one place: those of the token before. Confirm: the finding says so.
    3. The sampler has older weights, another precision or another chat template. Confirm: compare log-probs of one
       answer by hand.

    ## What to try first
    Score one answer with sampler and trainer, and compare token by token.

    ## When it is fine
    Servers of another precision differ by some 0.001 nats a token, far below.

    ## References
    Schulman, Approximating KL Divergence (k3); Yao et al., Your Efficient RL Framework Secretly Brings You Off-Policy
    RL Training.
    """

    code: ClassVar[str] = "POL510"
    name: ClassVar[str] = "sampler-and-trainer-disagree"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Generations"
    follows: ClassVar[tuple[str, ...]] = (
        "NET510",
        "NET511",
        "POL512",
        "PRE513",
        "POL514",
    )

    nats: float = 0.02  # a token, mean over answers
    answers: int = 16  # that are needed

    def check(self, evidence: Generations) -> Iterator[Finding]:
        k3 = evidence.passed("sampled_k3", fresh=True)
        whole = np.isfinite(k3) & (evidence.passed("renormalised", fresh=True) == 0)
        count = int(whole.sum())
        if count < self.answers:
            raise NotEnough(f"log-probs of the sampler for {count} answers, needs {self.answers}")
        mean = float(k3[whole].mean())
        if mean < self.nats:
            return
        place = one_place_off(evidence)
        size = float(evidence.passed("sampled", fresh=True)[whole].mean())
        yield self.finding(
            "the trainer gives answers other log-probs than the sampler did"
            + (": they are off by one place" if place else ""),
            seen=f"{mean:.3g} nats a token apart (k3) over {count} answers before any update; differences "
            f"of {size:.2g} in the mean",
            expected="the same log-probs, up to rounding",
            help="move the log-probs by one place"
            if place
            else "compare temperature, template and weights of sampler and trainer",
            confidence=0.93,
            severity="error" if mean > 5 * self.nats or place else "warning",
        )
