"""The sum of the advantage is carried by λ alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.targets import fit_targets
from rldebug.forensics.weight_recursion import recursions
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TraceWithoutDiscount(Rule):
    """The sum of the advantage is carried by λ alone.

    ## What it checks
    The weights of the log-probs, or the targets of the critic, follow A = δ + κ A' down to rounding, where κ should be
    γλ. Either κ is larger than γ, so that λ would be above 1; or κ is a number that people choose, as 0.95, and κ / γ
    is none; or λ itself holds γ a second time.

    ## Why it matters
    TD errors that are far ahead are credited with a weight that belongs to no λ, and the noise of the advantage grows.

    ## Likely causes
    1. `delta + lam * gae` in place of `delta + gamma * lam * gae`. Confirm: read the recursion.
    2. The helper that sums up is handed λ, or γ twice. Confirm: print its second argument; it must be γ · λ.

    ## What to try first
    `gae = delta + gamma * lam * not_done * gae`.

    ## When it is fine
    Where the product of γ and λ was chosen as one number.

    ## References
    Schulman et al. 2016, *High-Dimensional Continuous Control Using Generalized Advantage Estimation*, equation 16.
    """

    code: ClassVar[str] = "ADV351"
    name: ClassVar[str] = "trace-without-discount"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "trace"
    follows: ClassVar[tuple[str, ...]] = ("ADV326",)

    exact: float = 5e-5  # that a number may be off the one that was chosen
    above: float = 0.003  # that κ is above γ

    def check(self, evidence: Script) -> Iterator[Finding]:
        found: list[tuple[float, float, int, Where]] = []
        for each in fit_targets(evidence):
            if each.name == "gae" and each.gamma and each.lam is not None and not each.mistake and each.audits >= 2:
                found.append((each.gamma, each.gamma * each.lam, each.rows, each.where))
        for recursion, where in recursions(evidence):
            if not recursion.swapped and not recursion.forwards:
                found.append((recursion.gamma, recursion.carried, recursion.rows, where))
        if not found:
            raise NotEnough("no advantage follows a recursion that is known")
        for gamma, carried, rows, where in found:
            told = self._told(gamma, carried)
            if told:
                yield self.finding(
                    told,
                    where=where,
                    seen=f"γ = {gamma:.5g} in the TD error, {carried:.5g} before the next advantage, in {rows} steps",
                    expected="γ · λ before the next advantage",
                    help="multiply the carried sum by gamma * lam",
                    confidence=0.85,
                )
                return

    def _told(self, gamma: float, carried: float) -> str:
        if not self._chosen(gamma) or gamma > 0.9999:
            return ""
        if carried > gamma + self.above:
            return "the sum of the advantage is carried by more than γ: λ would be above 1"
        lam = carried / gamma
        if self._chosen(lam) or carried < 0.3:
            return ""
        if self._chosen(carried) and carried < 1.0:
            return f"the sum of the advantage is carried by {carried:.4g}, without γ"
        if self._chosen(lam / gamma) and abs(lam - round(lam, 2)) > 1e-3:
            return "the sum of the advantage is carried by γ² · λ"
        return ""

    def _chosen(self, number: float) -> bool:
        """People choose multiples of 0.005."""
        return abs(number * 200 - round(number * 200)) < 200 * self.exact
