"""The advantages are made with another γ or λ than was set."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.target_settings import told
from rldebug.forensics.weight_recursion import recursions
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class AdvantageNotAsSet(Rule):
    """The advantages are made with another γ or λ than was set.

    ## What it checks
    Where log-probs are weighted with advantages that were made apart from the targets of the critic, their recursion is
    worked out from the weights: γ of the TD error, and γλ of the sum that is carried. Both are held against the options
    of those names. Spoken of are numbers that a slip of the pen gives: λ in the place of γ, γ squared or left out, λ
    left out of the carried sum.

    ## Why it matters
    Advantages then belong to another task than the values that are taken off them, and are off in every step.

    ## Likely causes
    1. The two were exchanged, in the call or in the line. Confirm: print γ and λ inside of the function.
    2. The sum is carried with γ alone. Confirm: the factor has to be γ·λ.

    ## What to try first
    `delta = r + gamma * v_next - v`, and `adv = delta + gamma * lam * adv_next`.

    ## When it is fine
    Where the advantages are discounted differently on purpose, by a number of its own: that is left alone.

    ## References
    Schulman et al. 2016, *High-Dimensional Continuous Control Using Generalized Advantage Estimation*.
    """

    code: ClassVar[str] = "ADV330"
    name: ClassVar[str] = "advantage-not-as-set"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "formula"

    near: float = 1e-3  # between a number and the one that it is taken for
    apart: float = 5e-3  # between two settings, for them to be told apart

    def check(self, evidence: Script) -> Iterator[Finding]:
        found = [(each, where) for each, where in recursions(evidence) if not each.swapped and not each.forwards]
        gamma, lam = told(evidence, "discount", constants=False), told(evidence, "lam", constants=False)
        if not found or gamma is None or lam is None or not (0.0 < gamma <= 1.0 and 0.0 < lam <= 1.0):
            raise NotEnough("the recursion of the advantages is not known, or γ and λ were not set by names that are")
        for each, where in found:
            how = self._how(each.gamma, each.carried, gamma, lam)
            if how:
                yield self.finding(
                    f"the advantages are made with {how}",
                    where=where,
                    seen=f"γ {each.gamma:.5g} in the TD error and {each.carried:.5g} before the carried sum, in "
                    f"{each.rows} steps",
                    expected=f"{gamma:g} and {gamma:g} · {lam:g} = {gamma * lam:.5g}, as they were set",
                    help="use γ in the TD error, and γ · λ for what is carried",
                    confidence=0.9,
                )
                return

    def _how(self, seen: float, carried: float, gamma: float, lam: float) -> str:
        def is_(one: float, other: float, right: float) -> bool:
            return abs(one - other) < self.near and abs(other - right) > self.apart

        if is_(seen, lam, gamma):
            return "λ in the place of γ"
        if is_(seen, 1.0, gamma):
            return "a TD error that is not discounted"
        if is_(seen, gamma * gamma, gamma):
            return "γ applied twice"
        if abs(seen - gamma) < self.near and is_(carried, gamma, gamma * lam):
            return "no λ"
        return ""
