"""The penalty is the log-ratio itself, whose gradient is 0 on average."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.surrogates import surrogates
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class LogRatioAsPenalty(Rule):
    """The divergence penalty is the plain log-ratio of the sampled actions.

    ## What it checks
    A term of the loss that is the mean of log-prob minus reference, with no weight, beside a policy gradient of the
    same network.

    ## Why it matters
    For actions drawn from the policy, the mean of the gradient of the log-prob is 0: the term estimates the divergence
    but its gradient restrains nothing. It is noise.

    ## Likely causes
    1. The simplest estimate of the divergence was taken for a loss. Confirm: it can be negative.

    ## What to try first
    Use exp(d) − d − 1 with d = reference − log-prob, half the squared difference, or put the log-ratio into the reward.

    ## When it is fine
    As a reported number, or in the reward: there it carries no gradient, and is not seen here.

    ## References
    Schulman, *Approximating KL Divergence* (2020).
    Seen in the wild: POL-20 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "POL308"
    name: ClassVar[str] = "log-ratio-as-penalty"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    losses: int = 3  # of a policy; as many with the plain log-ratio beside it

    def check(self, evidence: Script) -> Iterator[Finding]:
        found, judged = [], 0
        for each in surrogates(evidence):
            judged += 1
            others = [term for term in each.beside if term["kind"] == "other"]
            alone = len(others) == 1 and others[0]["op"] == "log-ratio" and "weight" not in others[0].arrays
            if alone and not (others[0].get("attached") or {}).get("action"):
                found.append(others[0])
        if judged < self.losses:
            raise NotEnough(f"{judged} policy losses, needs {self.losses}")
        if len(found) < max(self.losses, 0.5 * judged):
            return
        yield self.finding(
            "the divergence penalty is the log-ratio itself: its gradient is 0 on average and restrains nothing",
            where=found[0].where,
            seen=f"the plain log-ratio with the factor {found[0]['coefficient']:.3g} in "
            f"{len(found)} of {judged} losses",
            expected="an estimate whose gradient is that of the divergence: exp(d) − d − 1, or d² / 2",
            help="use exp(d) - d - 1 with d = reference - logp, or put the log-ratio into the reward",
            confidence=0.85,
        )
