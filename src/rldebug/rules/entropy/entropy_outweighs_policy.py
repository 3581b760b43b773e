"""The entropy bonus is larger than what it competes with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.surrogates import surrogates
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class EntropyOutweighsPolicy(Rule):
    """The entropy bonus outweighs the policy gradient.

    ## What it checks
    The factor of the entropy in the loss over the spread of the advantages that weight the log-probs: with a factor of
    c, the policy that is best for one step is softmax(A / c). Reported where c is a tenth of the spread or more and the
    policy stays within a few percent of the largest entropy it can have, to the end of the run.

    ## Why it matters
    The policy is kept random: whatever it learns about actions is smaller than the pay for not using it.

    ## Likely causes
    1. The coefficient is too large by a factor of ten or a hundred. Confirm: 0.01 is usual with normalised advantages.
    2. The entropy is summed over rows where the policy loss is averaged. Confirm: compare the two reductions.

    ## What to try first
    Divide the coefficient by ten.

    ## When it is fine
    At the beginning of a long run; runs too short to judge are left alone. Advantages that are nearly 0 because there
    was no reward yet are not judged.

    ## References
    Ahmed et al., *Understanding the Impact of Entropy on Policy Optimization* (2019).
    """

    code: ClassVar[str] = "ENT301"
    name: ClassVar[str] = "entropy-outweighs-policy"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    audits: int = 3  # with an entropy beside a policy loss
    updates: int = 40  # that the policy had to move
    factor: float = 0.15  # of the entropy, in spreads of the advantage
    near: float = 0.97  # of the largest entropy

    def check(self, evidence: Script) -> Iterator[Finding]:
        seen: list[tuple[float, float, Event]] = []
        numbers = set()
        for each in surrogates(evidence):
            entropy = next((term for term in each.beside if _usable(term, each.term)), None)
            advantage = each.advantage
            if entropy is None or advantage is None or len(advantage) < 16:
                continue
            spread = float(advantage.std()) * abs(float(each.term["scale"]) * int(each.term["rows"]))
            if float(advantage.std()) < 0.3:
                continue  # a reward that is not there yet: whatever is small outweighs it
            factor = abs(float(entropy["scale"])) * int(entropy["rows"]) / spread
            seen.append((factor, float(entropy.arrays["entropy"].mean()), entropy))
            numbers.add(each.audit.number)
        updates = int(evidence.counts.get("updates", 0))
        if len(numbers) < self.audits or updates < self.updates or seen[-1][2].update < 0.5 * updates:
            raise NotEnough(
                f"{len(numbers)} audits with an entropy beside a policy loss, to the end of it, needs {self.audits}"
            )
        factors = np.array([each[0] for each in seen])
        last = max(each.audit.update for each in surrogates(evidence) if each.audit.number in numbers)
        # At the end of the run: a policy that starts certain may have been drawn to the uniform one.
        means = np.array([each[1] for each in seen if each[2].update >= last])
        most = _most(evidence, float(max(np.max(each[2].arrays["entropy"]) for each in seen)))
        if most is None or np.median(factors) < self.factor or means.min() < self.near * most:
            return
        yield self.finding(
            "the entropy bonus outweighs the policy gradient, and the policy stays random",
            where=seen[0][2].where,
            seen=f"the entropy counts {np.median(factors):.2g} spreads of the advantage, and is "
            f"still at {means.min() / most:.0%} of its "
            f"maximum after {updates} updates",
            expected=f"well below {self.factor} spreads",
            help="divide the entropy coefficient by ten",
            confidence=0.9,
        )


def _usable(term: Event, policy: Event) -> bool:
    """Of the same rows, of all actions, as a bonus."""
    entropy = term.arrays.get("entropy")
    return (
        term["kind"] == "entropy"
        and term["op"] == "p-log-p"
        and entropy is not None
        and float(term["coefficient"]) < 0
        and int(term["rows"]) == int(policy["rows"])
    )


def _most(evidence: Script, largest: float) -> float | None:
    """The entropy of the uniform policy: the logarithm of a whole number that is hardly above what was seen."""
    count = round(float(np.exp(largest)))
    return float(np.log(count)) if count >= 2 and abs(largest - np.log(count)) < 0.02 else None
