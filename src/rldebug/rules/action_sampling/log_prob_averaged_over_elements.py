"""The log-prob of an action is the mean over its elements, not their sum."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.averaged_parts import averaged_parts
from rldebug.forensics.squashing import soft_log_probs
from rldebug.forensics.temperature import temperatures
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class LogProbAveragedOverElements(Rule):
    """The log-prob of an action is the mean over its elements.

    ## What it checks
    Where the temperature of a soft critic is learned, its value is known. The weight of the log-prob in the targets
    r + γ · (Q − α log π) is held against it: it is one n-th, for an action of n elements. Or the gradient of the
    temperature moves by one n-th of the log-prob, while it is steered to −n. Exact.

    In a policy loss: the log-prob that the ratio is made of is computed from actions, means and deviations, and is one
    n-th of the sum. Of another distribution than a Gaussian, and where actions are squashed, the graph of the loss says
    that the log-probs of the n elements are averaged before the ratio is taken. Without a ratio, the weighted log-probs
    are averaged over rows and elements alike.

    ## Why it matters
    The log-density of an action is the sum over its elements. Of the mean the entropy is one n-th, but the target
    entropy is that of the sum: the temperature is tuned to a policy that is much less random than was wanted.
    A ratio of it is the n-th root of the true one: actions are clipped late, and the policy moves further than was
    meant. Without a ratio the gradient is one n-th beside that of the value and the entropy.

    ## Likely causes
    1. `.mean(-1)`, or `.mean()` over rows and elements at once, where `.sum(-1)` belongs. Confirm: print the shape of
       the log-prob before it is reduced.

    ## What to try first
    `logp.sum(-1)`, or `Independent(Normal(mean, std), 1)`.

    ## When it is fine
    Never together with a target entropy of minus the number of elements. Where nothing else is learned by the same
    network, and there is no ratio, it is another learning rate, and this is a note.

    ## References
    Haarnoja et al. 2018, *Soft Actor-Critic Algorithms and Applications*.
    Seen in the wild: ACT-06 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "ACT376"
    name: ClassVar[str] = "log-prob-averaged-over-elements"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "density"

    losses: int = 2  # that were taken apart
    steps: int = 8  # of the temperature
    near: float = 0.01  # relative, between what is computed and what the mistake gives

    def check(self, evidence: Script) -> Iterator[Finding]:
        found = [each for each in soft_log_probs(evidence) if each.share is not None and each.size > 1]
        steered = [each for each in temperatures(evidence) if not each.discrete and each.size > 1]
        steered = [each for each in steered if each.steps >= self.steps]
        weighted = list(averaged_parts(evidence))
        if len(found) < self.losses and not steered and len(weighted) < self.losses:
            raise NotEnough("neither a learned temperature nor weighted log-probs of several elements were seen")
        averaged = [each for each in found if self._near(each.size * (each.share or 0.0), 1.0)]
        if len(averaged) >= max(self.losses, 0.9 * len(found)):
            size, where = averaged[0].size, averaged[0].where
            seen = f"{averaged[0].share:.3f} of it in the targets, in {len(averaged)} losses"
            yield self._found(size, where, seen)
            return
        for each in steered if not found else ():
            if self._near(-each.slope * each.size, 1.0) and self._near(each.target / each.size, -each.size):
                seen = f"{-each.slope:.3f} of it in the loss of the temperature, in {each.steps} steps"
                yield self._found(each.size, each.where, seen)
                return
        wrong = [each for each in weighted if each.averaged]
        audits = len({each.audit.number for each in wrong})
        if len(wrong) >= max(self.losses, 0.9 * len(weighted)) and audits >= 2:
            one = wrong[0]
            how = "the log-probs of the ratio are" if one.ratio else "the weighted log-probs are summed up to"
            seen = f"{how} one {one.size}th of their sum in {len(wrong)} losses"
            severity: Severity = "error" if one.ratio else "warning" if one.beside else "note"
            yield self._found(one.size, one.term.where, seen, severity)

    def _near(self, number: float, other: float) -> bool:
        return abs(number - other) < self.near * abs(other)

    def _found(self, size: int, where: Where, seen: str, severity: Severity = "error") -> Finding:
        return self.finding(
            f"the log-prob of an action is the mean over its {size} elements",
            where=where,
            seen=seen,
            expected="the sum over the elements",
            help="sum the log-probs over the elements of the action",
            confidence=0.95,
            severity=severity,
        )
