"""Importance weights are held above 1 instead of below it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.importance_traces import trace_of
from rldebug.forensics.targets import fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ImportanceWeightClippedFromBelow(Rule):
    """Importance weights are held above 1 instead of below it.

    ## What it checks
    The targets of a critic follow the formula of V-trace, and the weight of each step is read off them. Many are
    exactly 1, which is the bound that they are clipped at. The others must lie below it. Here they lie above. Exact.

    ## Why it matters
    Steps that the policy would hardly take any more count fully, and those that have become more likely count many
    times: targets vary without bound, which the clip is there to prevent.

    ## Likely causes
    1. `clamp(min=1)` or `max(rho, 1)` in place of `clamp(max=1)`. Confirm: read the line.

    ## What to try first
    `rho.clamp(max=rho_bar)`.

    ## When it is fine
    Never.

    ## References
    Espeholt et al. 2018, *IMPALA: Scalable Distributed Deep-RL with Importance Weighted Actor-Learner Architectures*.
    """

    code: ClassVar[str] = "POL374"
    name: ClassVar[str] = "importance-weight-clipped-from-below"
    severity: ClassVar[Severity] = "error"
    status: ClassVar[Literal["stable", "nursery"]] = "stable"
    reads: ClassVar[str] = "Script"

    rows: int = 24  # whose weight is not 1
    share: float = 0.95  # of those, above 1

    def check(self, evidence: Script) -> Iterator[Finding]:
        for fit in fit_targets(evidence):
            if fit.name == "v-trace" and fit.mistake == "weights-clipped-from-below" and fit.audits >= 2:
                yield self.finding(
                    "importance weights are held above 1 instead of below it",
                    where=fit.where,
                    seen=f"{fit.share:.0%} of {fit.rows} targets are made with max(1, ratio), by the log-probs of the "
                    f"acting and of the loss",
                    expected="min(1, ratio)",
                    help="clamp(max=1.0)",
                    confidence=0.97,
                )
                return
        trace = trace_of(evidence)
        if trace is None or len(trace.weights) < self.rows or trace.piled < self.rows:
            raise NotEnough("no targets with clipped importance weights were seen")
        above = float(np.mean(trace.weights > 1.0))
        if above >= self.share:
            yield self.finding(
                "importance weights are held above 1 instead of below it",
                where=trace.where,
                seen=f"{trace.piled} weights are 1, and {above:.0%} of the {len(trace.weights)} others lie above, "
                f"up to {trace.weights.max():.3g}",
                expected="weights of at most 1",
                help="clamp(max=1.0)",
                confidence=0.94,
            )
