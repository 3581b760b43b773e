"""The deviation of the policy is learned by nobody."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class DeviationInNoOptimizer(Rule):
    """The deviation of the policy is learned by nobody.

    ## What it checks
    A Gaussian policy whose deviation gets a gradient from the loss: a tensor that is no part of a network, and that no
    optimizer holds. The deviation stays what it was in all updates that were seen, to the last digit.

    ## Why it matters
    The noise of the policy never shrinks and never grows: exploration stays as it was set up.

    ## Likely causes
    1. The optimizer is given the parameters of the network alone. Confirm: `log_std` is in none of its groups.
    2. `log_std` was made anew after the optimizer. Confirm: compare `id(log_std)` with those in the groups.

    ## What to try first
    `Adam([*net.parameters(), log_std])`, or make `log_std` an `nn.Parameter` of the network.

    ## When it is fine
    A deviation that is meant to stay: then it needs no gradient.

    ## References
    The PyTorch documentation of `torch.optim`.
    """

    code: ClassVar[str] = "ACT356"
    name: ClassVar[str] = "deviation-in-no-optimizer"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    losses: int = 6  # of a Gaussian policy, at as many updates

    def check(self, evidence: Script) -> Iterator[Finding]:
        strays, seen, first = 0, set(), None
        count = 0
        updates = set()
        for _, term in evidence.terms("policy"):
            std = term.arrays.get("std")
            if term.get("family") != "normal" or std is None or not std.size or "strays" not in term.detail:
                continue
            count += 1
            strays += bool(term["strays"])
            updates.add(term.update)
            seen |= set(np.unique(np.asarray(std)).tolist()[:64])
            first = first or term
        if count < self.losses or len(updates) < self.losses or first is None:
            raise NotEnough(f"{count} losses with a Gaussian policy, needs {self.losses}")
        trained = any(evidence.owners(name) for name in first.get("reached") or ())
        if strays < count or not trained or len(seen) > 16:
            return
        yield self.finding(
            "the deviation of the policy is in no optimizer",
            where=first.where,
            seen=f"it gets a gradient in {count} losses, and never changes",
            expected="an optimizer that holds it, beside the network of the mean",
            help="give log_std to the optimizer too",
            confidence=0.93,
        )
