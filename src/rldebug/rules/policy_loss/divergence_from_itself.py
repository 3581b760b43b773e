"""The policy is held near itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class DivergenceFromItself(Rule):
    """The divergence in the loss is one of the policy from itself.

    ## What it checks
    A divergence between two policies is part of the loss, in updates in which the policy has moved already: its ratio
    to the one that acted is not 1. The divergence is 0 in all rows all the same, or the two means are equal.

    ## Why it matters
    The penalty is 0 and so is its gradient: nothing holds the policy back. An adaptive coefficient falls for ever.

    ## Likely causes
    1. The old distribution is computed with the present weights. Confirm: it must come from the rollout, or from a copy
       of the weights that is not trained.
    2. The copy is the network itself. Confirm: `old is new`.

    ## What to try first
    Store the parameters of the distribution while acting, and use those.

    ## When it is fine
    Never as a penalty.

    ## References
    Schulman et al. 2017, *Proximal Policy Optimization Algorithms*, section 4.
    """

    code: ClassVar[str] = "POL351"
    name: ClassVar[str] = "divergence-from-itself"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    losses: int = 4  # after the policy has moved
    moved: float = 1e-3  # of the ratio from 1

    def check(self, evidence: Script) -> Iterator[Finding]:
        none: list[Event] = []
        judged = 0
        for audit in evidence.audits:
            for _, terms in audit.losses:
                ratios = [np.ravel(each.arrays["ratio"]) for each in terms if "ratio" in each.arrays]
                if not any(len(each) and float(np.abs(each - 1.0).max()) > self.moved for each in ratios):
                    continue
                found = [(each, _apart(each)) for each in terms]
                known = [(each, size) for each, size in found if size is not None]
                if known:
                    judged += 1
                    if all(float(size.max()) <= 1e-7 for _, size in known):
                        none.append(known[0][0])
        if judged < self.losses:
            raise NotEnough(f"{judged} losses with a divergence after the policy moved, needs {self.losses}")
        if len(none) < 0.95 * judged:
            return
        yield self.finding(
            "the divergence in the loss is one of the policy from itself",
            where=none[0].where,
            seen=f"0 in all rows of {len(none)} losses, although the policy has moved since it acted",
            expected="the distance from the policy that acted",
            help="take the old distribution from the rollout",
            confidence=0.95,
        )


def _apart(term: Event) -> NDArray[np.float64] | None:
    """How far the two policies of a divergence are apart, row by row; None where it is no divergence."""
    if term["kind"] != "other" or term["op"] not in ("divergence", "kl"):
        return None
    arrays = term.arrays
    if "kl" in arrays and arrays["kl"].size:
        found: NDArray[np.float64] = np.abs(np.ravel(arrays["kl"]).astype(np.float64))
        return found
    if "action" in arrays and "mean" in arrays and arrays["action"].shape == arrays["mean"].shape:
        one, other = (np.ravel(arrays[name]).astype(np.float64) for name in ("action", "mean"))
        return np.abs(one - other) if len(one) else None
    return None
