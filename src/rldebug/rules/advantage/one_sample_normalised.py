"""A batch of one sample is normalised, which gives NaN."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crash_signs import refused_parameter
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class OneSampleNormalised(Rule):
    """A batch of one sample is normalised, which gives NaN.

    ## What it checks
    A distribution refused NaN, the weights are NaN, and among the data lies a single row that is NaN.

    ## Why it matters
    The standard deviation of one sample is NaN; so are the normalised advantage, the loss, and after one step all
    weights.

    ## Likely causes
    1. The number of samples is not a multiple of the minibatch, and one is left over. Confirm: print the sizes of the
       minibatches.
    2. Advantages are normalised for each episode or each environment, and one has a single step. Confirm: the same.

    ## What to try first
    Choose minibatches that divide the number of samples, or leave out the last one.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `torch.std`: the correction.
    """

    code: ClassVar[str] = "ADV401"
    name: ClassVar[str] = "one-sample-normalised"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"
    follows: ClassVar[tuple[str, ...]] = ("ADV006",)

    def concerns(self, evidence: Crash) -> bool:
        return refused_parameter(evidence) == "one sample"

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        names = [
            name
            for _, name, fact in evidence.held("tensor", "array")
            if fact.get("nan") and not fact.get("ops") and fact["shape"] and set(fact["shape"]) == {1}
        ]
        yield self.finding(
            "a single sample was normalised",
            where=evidence.where,
            seen=f"{evidence.said}; {names[0]} is NaN, and has one element",
            expected="at least two samples where a standard deviation is taken",
            help="choose a minibatch that divides the number of samples, or leave out the one that is left over",
            confidence=0.75,
        )
