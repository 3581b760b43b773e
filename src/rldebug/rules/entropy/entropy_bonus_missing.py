"""A weight of the entropy bonus is set, and the loss holds no entropy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.target_settings import told
from rldebug.forensics.targets import fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class EntropyBonusMissing(Rule):
    """A weight of the entropy bonus is set, and the loss holds no entropy.

    ## What it checks
    Where the loss is computed, a number lies at hand whose name means the weight of an entropy bonus: an attribute of
    the algorithm, an option, a constant. It is not 0. The loss was taken apart: it is made of one policy term and of
    values that are regressed, and nothing else. Nor is the entropy in the rewards: the targets are those of the
    environment's own.

    ## Why it matters
    The policy becomes certain as soon as the first good action was met. Whoever tunes the weight tunes nothing.

    ## Likely causes
    1. The method that computes the loss was written anew, and the bonus left out. Confirm: look for the entropy in it.
    2. The entropy is computed and logged, and not added. Confirm: follow it to the loss.

    ## What to try first
    Subtract the weight times the mean entropy from the loss.

    ## When it is fine
    The weight is a default that nobody asked for: set it to 0.

    ## References
    Mnih et al. 2016, *Asynchronous Methods for Deep Reinforcement Learning*.
    """

    code: ClassVar[str] = "ENT304"
    name: ClassVar[str] = "entropy-bonus-missing"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    losses: int = 6  # that were taken apart
    audits: int = 2  # that show it
    least: float = 1e-5  # a weight that does something

    def check(self, evidence: Script) -> Iterator[Finding]:
        weight = told(evidence, "entropy_coef")
        if weight is None:
            raise NotEnough("no weight of an entropy bonus was seen where the losses are computed")
        losses = [
            (loss, {str(each["kind"]) for each in terms}, sum(each["kind"] == "policy" for each in terms), audit.number)
            for audit in evidence.audits
            for loss, terms in audit.losses
            if any(each["kind"] == "policy" for each in terms)
        ]
        if len(losses) < self.losses or len({number for *_, number in losses}) < self.audits:
            raise NotEnough(f"{len(losses)} losses of a policy were taken apart, needs {self.losses}")
        plain = [fit for fit in fit_targets(evidence) if fit.what == "value" and not fit.mistake and fit.share > 0.99]
        bare = all(kinds <= {"policy", "regression"} and policies == 1 for _, kinds, policies, _ in losses)
        if weight > self.least and plain and bare:
            yield self.finding(
                "the weight of the entropy bonus is set, and the loss holds no entropy",
                where=losses[0][0].where,
                seen=f"{weight:g} where the loss is computed; {len(losses)} losses are of a policy and of values alone",
                expected=f"−{weight:g} times the entropy in the loss",
                help="subtract the weight times the mean entropy of the policy from the loss, or set it to 0",
                confidence=0.8,
            )
