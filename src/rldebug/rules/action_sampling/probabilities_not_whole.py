"""Actions are drawn from weights, and the log of the weight is taken for a log-prob."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.surrogates import surrogates
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ProbabilitiesNotWhole(Rule):
    """The log-probs are those of weights that do not sum to 1.

    ## What it checks
    Weights that actions were drawn from, and whose rows do not sum to 1: `multinomial` does not mind. Whether the
    log-probs of the first loss after acting are the logarithms of those raw weights, number by number. Exact.

    ## Why it matters
    They belong to no distribution: log-probs are too low wherever mass is missing, and gradients leave the sum free.

    ## Likely causes
    1. A mask is multiplied into the probabilities after the softmax, and they are not normalised again. Confirm: print
       the sum of the probabilities.

    ## What to try first
    Mask the logits before the softmax, with a large negative number.

    ## When it is fine
    Weights that only the sampling sees may have any sum.

    ## References
    Huang and Ontañón, *A Closer Look at Invalid Action Masking in Policy Gradient Algorithms* (2022).
    """

    code: ClassVar[str] = "ACT326"
    name: ClassVar[str] = "probabilities-not-whole"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "scores"

    rows: int = 32  # drawn from such weights, in an audit; and log-probs that tell, in all
    audits: int = 2  # with that many rows

    def check(self, evidence: Script) -> Iterator[Finding]:
        raw_hits = whole_hits = compared = 0
        numbers, where = set(), None
        for each in surrogates(evidence):
            logp = each.term.arrays.get("logp")
            if logp is None or not each.fresh or each.audit.number in numbers:
                continue
            raw, whole = _drawn(each.audit)
            if len(raw) < self.rows:
                continue
            numbers.add(each.audit.number)
            logp = np.ravel(logp).astype(np.float64)
            by_raw, by_whole = _among(logp, raw), _among(logp, whole)
            # A number that both explain says nothing.
            raw_hits += int((by_raw & ~by_whole).sum())
            whole_hits += int((by_whole & ~by_raw).sum())
            compared += int((by_raw ^ by_whole).sum())
            where = where or each.term.where
        if len(numbers) < self.audits or compared < self.rows:
            raise NotEnough(
                f"{compared} log-probs of actions drawn from weights that do not sum to 1, needs {self.rows}"
            )
        if raw_hits < 0.9 * compared:
            return
        yield self.finding(
            "the log-probs are those of weights that do not sum to 1",
            where=where,
            seen=f"the logarithm of the raw weight in {raw_hits} of {compared} rows that tell",
            expected="log-probs of a distribution: weights divided by their sum",
            help="mask the logits before the softmax, or divide by the sum after masking",
            confidence=0.95,
        )


def _drawn(audit: Audit) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Logarithms of the weights of drawn actions where weights do not sum to 1: as they are, and divided by the sum."""
    found: list[NDArray[np.float64]] = []
    for event in audit.of("sample"):
        weights, result = event.arrays.get("params"), event.arrays.get("result")
        if event.get("params") != ["probs"] or weights is None or result is None or weights.ndim != 2:
            continue
        chosen = np.ravel(result).astype(np.int64)
        if len(chosen) != len(weights) or chosen.min() < 0 or chosen.max() >= weights.shape[1]:
            continue
        sums = weights.astype(np.float64).sum(axis=1)
        taken = weights[np.arange(len(chosen)), chosen].astype(np.float64)
        keep = (np.abs(sums - 1) > 1e-2) & (taken > 0) & (sums > 0)
        found.append(np.stack([np.log(taken[keep]), np.log(taken[keep] / sums[keep])]))
    both = np.concatenate(found, axis=1) if found else np.empty((2, 0))
    return both[0], both[1]


def _among(values: NDArray[np.float64], known: NDArray[np.float64]) -> NDArray[np.bool_]:
    ordered = np.sort(known)
    at = np.clip(np.searchsorted(ordered, values), 1, len(ordered) - 1)
    near = np.minimum(np.abs(values - ordered[at]), np.abs(values - ordered[at - 1]))
    result: NDArray[np.bool_] = near < 2e-6
    return result
