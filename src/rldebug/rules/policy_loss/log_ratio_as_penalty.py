"""The penalty is the log-ratio itself, whose gradient is 0 on average."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.surrogates import Surrogate, surrogates
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
    aim: ClassVar[str] = "loss"

    losses: int = 3  # of a policy; as many with the plain log-ratio beside it

    def check(self, evidence: Script) -> Iterator[Finding]:
        found, judged = [], 0
        for each in surrogates(evidence):
            judged += 1
            others = [term for term in each.beside if term["kind"] == "other"]
            alone = len(others) == 1 and others[0]["op"] == "log-ratio" and "weight" not in others[0].arrays
            masked = next((term for term in each.beside if _is_of_all_counted(term, each)), None)
            if alone and not (others[0].get("attached") or {}).get("action"):
                found.append(others[0])
            elif masked is not None:
                found.append(masked)
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


def _is_of_all_counted(term: Event, each: Surrogate) -> bool:
    """The log-probs of the ratio once more, made smaller wherever the loss counts, and all by the same factor."""
    logp, again = each.term.arrays.get("logp"), term.arrays.get("logp")
    if logp is None or again is None or len(logp) != len(again) or term["kind"] not in ("policy", "classification"):
        return False
    if "ratio" not in each.term.arrays or "ratio" in term.arrays or "mask" not in each.term.arrays:
        return False
    kept = each.term.arrays["mask"] != 0
    factor = float(term["scale"]) * np.ones(len(again))
    for name in ("weight", "mask"):
        factor = factor * term.arrays.get(name, 1.0)
    if len(kept) != len(factor) or not kept.any() or not (factor[kept] > 0).all() or (factor[~kept] != 0).any():
        return False
    return bool(np.ptp(factor[kept]) < 1e-6 * factor[kept].max() and np.allclose(logp[kept], again[kept], atol=1e-5))
