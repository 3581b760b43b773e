"""The advantage of a step leads to its own target, not to the next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.targets import fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class AdvantageLeadsToOwnTarget(Rule):
    """The advantage of a step leads to its own target, not to the next.

    ## What it checks
    Targets that follow the formula of V-trace, and what the log-probs are multiplied with in the same loss: whether it
    is ρ (r + γ v_t − V_t), with v_t the target of the step itself. Rewards, values, ratios and targets are known row by
    row, and the formula fits down to rounding; none of the right ones does.

    ## Why it matters
    What the action led to does not count beyond its reward: the value of the state is held against itself.

    ## Likely causes
    1. The targets are not shifted by one before the advantages are made. Confirm: read the line;
       `torch.cat([vs[1:], bootstrap[None]])` is what belongs there.
    2. The recursion yields v − V, and the shift is done on another tensor. Confirm: the first advantage must hold the
       second target.

    ## What to try first
    `rho * (reward + discount * torch.cat([vs[1:], bootstrap[None]]) - value)`.

    ## When it is fine
    Never.

    ## References
    Espeholt et al. 2018, *IMPALA: Scalable Distributed Deep-RL with Importance Weighted Actor-Learner Architectures*,
    section 4.2.
    """

    code: ClassVar[str] = "ADV336"
    name: ClassVar[str] = "advantage-leads-to-own-target"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    def check(self, evidence: Script) -> Iterator[Finding]:
        fits = [each for each in fit_targets(evidence) if each.name == "v-trace" and each.audits >= 2]
        if not fits:
            raise NotEnough("no targets with importance weights were seen")
        for fit in fits:
            if fit.pushes == "own":
                yield self.finding(
                    "the advantage of a step is made with the target of the step itself",
                    where=fit.where,
                    seen=f"log-probs are weighed by ratio · (reward + {fit.gamma:.4g} · own target − value)",
                    expected=f"ratio · (reward + {fit.gamma:.4g} · target of the next step − value)",
                    help="shift the targets by one: torch.cat([targets[1:], bootstrap[None]])",
                    confidence=0.96,
                )
