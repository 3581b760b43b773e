"""The ratio is exp(old − new)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.surrogates import surrogates
from rldebug.forensics.targets import fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class RatioInverted(Rule):
    """The ratio is exp(old − new) instead of exp(new − old).

    ## What it checks
    How the ratio of a clipped surrogate is made, in the graph of the loss: the log-prob that carries a gradient must
    enter the exponential with a plus. For V-trace: with which weights its targets are made, by the log-probs of the
    acting and of the loss.

    ## Why it matters
    The gradient points the other way: what turned out better is made less likely.

    ## Likely causes
    1. Old and new are swapped in the difference. Confirm: read the line.
    2. The probabilities are divided the wrong way round. Confirm: as before.

    ## What to try first
    `ratio = torch.exp(new_logp - old_logp)`.

    ## When it is fine
    Estimates of a divergence use exp(reference − new) with no advantage: they are not counted.

    ## References
    Schulman et al., *Proximal Policy Optimization Algorithms* (2017).
    """

    code: ClassVar[str] = "POL302"
    name: ClassVar[str] = "ratio-inverted"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    losses: int = 2  # with a ratio; as many in which it is inverted

    def check(self, evidence: Script) -> Iterator[Finding]:
        for fit in fit_targets(evidence):
            if fit.name == "v-trace" and fit.mistake == "ratio-inverted" and fit.audits >= 2:
                yield self.finding(
                    "the importance weight is exp(old − new)",
                    where=fit.where,
                    seen=f"{fit.share:.0%} of {fit.rows} targets are made with the inverse of the ratio, by the "
                    f"log-probs of the acting and of the loss",
                    expected="exp(new − old)",
                    help="swap the two: rho = exp(new_logp - old_logp)",
                    confidence=0.96,
                )
                return
        found = [each for each in surrogates(evidence) if each.ratio is not None and each.advantage is not None]
        if len(found) < self.losses:
            raise NotEnough(f"{len(found)} losses with a ratio, needs {self.losses}")
        bad = [each for each in found if each.term.get("inverted") and each.term.get("clip")]
        if len(bad) < self.losses or len(bad) < 0.9 * len(found):
            return
        yield self.finding(
            "the ratio is exp(old − new)",
            where=bad[0].term.where,
            seen=f"the log-prob that carries a gradient enters the ratio with a minus, "
            f"in {len(bad)} of {len(found)} losses",
            expected="exp(new − old)",
            help="swap the two: ratio = exp(new_logp - old_logp)",
            confidence=0.97,
        )
