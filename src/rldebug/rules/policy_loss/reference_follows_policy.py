"""The divergence from the reference is always nil."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.tokens import rounds
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ReferenceFollowsPolicy(Rule):
    """The divergence from the reference is always nil.

    ## What it checks
    The penalty for leaving the reference is looked at before the first step of each round of writing and learning.
    In the first round it is nil, since the policy has not moved; it is still exactly nil in later ones, after many
    updates.

    ## Why it matters
    The reference is the policy itself, or follows it: nothing holds the policy back, and it drifts to whatever the
    reward likes, however odd.

    ## Likely causes
    1. The reference is the same object, not a copy. Confirm: `reference is policy`.
    2. The reference is copied anew in every round, or its log-probs are those of the sampler. Confirm: compare its
       weights before and after training.

    ## What to try first
    Make the reference once with `copy.deepcopy`, before training, and set `requires_grad_(False)`.

    ## When it is fine
    A penalty towards the policy of the last round, as in trust-region methods, is nil before the first step; a
    clipped ratio beside it makes it unneeded.

    ## References
    Bug kind POL-22 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "POL386"
    name: ClassVar[str] = "reference-follows-policy"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    rounds: int = 2  # later ones
    updates: int = 4  # steps that the policy had taken before them
    nil: float = 1e-5  # spread of exp(log-ratio) over tokens

    def check(self, evidence: Script) -> Iterator[Finding]:
        found = rounds(evidence)
        if len(found) <= self.rounds:
            raise NotEnough(f"{len(found)} rounds of writing and learning, needs {self.rounds + 1}")
        begun = min(each.writings[0].update for each in found)
        judged, nil = 0, []
        for each in found:
            update = each.writings[0].update
            if update < begun + self.updates:
                continue
            for loss, terms in each.audit.losses:
                policy = next((term for term in terms if term["kind"] == "policy"), None)
                pull = next((term for term in terms if term["kind"] == "other" and term["op"] == "kl"), None)
                if loss.update != update or policy is None or pull is None:
                    continue
                spread = _spread(pull.arrays, policy.arrays)
                judged += spread is not None
                if spread is not None and spread < self.nil:
                    nil.append(pull)
        if judged < self.rounds:
            raise NotEnough(f"{judged} divergences before the first step of a later round, needs {self.rounds}")
        if len(nil) < judged:
            return
        yield self.finding(
            "the divergence from the reference is always nil",
            where=nil[0].where,
            seen=f"the same for every token in all of {judged} losses, after {nil[-1].update - begun} updates",
            expected="a reference that stays behind when the policy moves",
            help="copy the reference once, with copy.deepcopy, before training",
            confidence=0.9,
        )


def _spread(pull: Mapping[str, NDArray[Any]], policy: Mapping[str, NDArray[Any]]) -> float | None:
    """Of exp(log-ratio) in exp(d) - d - 1: its second part is known up to the log-prob of the reference."""
    values, logp = pull.get("kl_up_to_constant"), policy.get("logp")
    if values is None or logp is None or len(values) != len(logp):
        return None
    mask = policy.get("mask")
    keep = np.ones(len(logp), bool) if mask is None or len(mask) != len(logp) else mask != 0
    if keep.sum() < 8 or float(np.ptp(logp[keep])) < 1e-3:
        return None
    x, y = values[keep], logp[keep]
    return min(float(np.ptp(x - y)), float(np.ptp(x + y)), float(np.ptp(x)))
