"""The entropy is summed over rows, and the policy loss averaged."""

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
class EntropyNotAveraged(Rule):
    """The entropy is summed over rows, and the policy loss averaged.

    ## What it checks
    How the two terms of one loss are reduced, as it is in the graph: the policy loss is the mean over its rows, and the
    entropy of the same rows is their sum. Reported where a row's entropy then counts a sixth of the spread of the
    advantages or more, so that it is no small coefficient that makes up for it.

    ## Why it matters
    The coefficient is multiplied by the size of the batch: the policy is paid for being random, and the more so the
    larger the batch.

    ## Likely causes
    1. `.sum()` without an axis, for `.sum(-1)` over actions. Confirm: print the shape of the entropy before the mean
       is taken; it has to have one number per row.

    ## What to try first
    `-(p * log_p).sum(-1).mean()`.

    ## When it is fine
    Where the coefficient was divided by the size of the batch: that is left alone.

    ## References
    Mnih et al., *Asynchronous Methods for Deep Reinforcement Learning* (2016).
    """

    code: ClassVar[str] = "ENT310"
    name: ClassVar[str] = "entropy-not-averaged"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    explains: ClassVar[tuple[str, ...]] = ("ENT301",)

    losses: int = 4  # with an entropy beside a policy loss
    rows: int = 8  # of a loss; over fewer, a sum is nearly a mean
    factor: float = 0.15  # of the entropy, in spreads of the advantage

    def check(self, evidence: Script) -> Iterator[Finding]:
        beside = [(each, entropy) for each in surrogates(evidence) if (entropy := self._entropy(each)) is not None]
        if len(beside) < self.losses:
            raise NotEnough(f"{len(beside)} losses with an entropy beside a policy loss, needs {self.losses}")
        summed = [pair for pair in beside if pair[1]["reduction"] == "sum" and pair[0].term["reduction"] == "mean"]
        if len(summed) < len(beside):
            return
        factors = [_factor(*pair) for pair in summed]
        if np.median(factors) < self.factor:
            return
        entropy = summed[0][1]
        yield self.finding(
            "the entropy is summed over the rows that the policy loss is averaged over",
            where=entropy.where,
            seen=f"sum over {entropy['rows']} rows beside a mean in {len(summed)} losses: the entropy counts "
            f"{np.median(factors):.2g} spreads of the advantage",
            expected="the mean over rows of both",
            help="sum over the actions of each row only, and take the mean over rows",
            confidence=0.9,
        )

    def _entropy(self, each: Surrogate) -> Event | None:
        """Of the same rows, as a bonus, where there are advantages to compare it with."""
        advantage = each.advantage
        if advantage is None or len(advantage) < self.rows or float(advantage.std()) < 1e-6:
            return None
        return next(
            (
                term
                for term in each.beside
                if term["kind"] == "entropy"
                and "entropy" in term.arrays
                and float(term["coefficient"]) < 0
                and int(term["rows"]) == int(each.term["rows"])
                and np.size(term.arrays["entropy"]) == int(term["rows"])
            ),
            None,
        )


def _factor(each: Surrogate, entropy: Event) -> float:
    advantage = each.advantage
    assert advantage is not None
    spread = float(advantage.std()) * abs(float(each.term["scale"]) * int(each.term["rows"]))
    return abs(float(entropy["scale"])) * int(entropy["rows"]) / max(spread, 1e-12)
