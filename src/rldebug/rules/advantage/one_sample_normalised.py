"""A batch of one sample is normalised, which gives NaN."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import nan_told, operands_told, refused_parameter
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class OneSampleNormalised(Rule):
    """A batch of one sample is normalised, which gives NaN.

    ## What it checks
    A distribution refused NaN, the weights are NaN, and NaN came first by a standard deviation of one number. Or
    PyTorch or NumPy warned that a standard deviation of one number was asked for.

    ## Why it matters
    The standard deviation of one sample is NaN; so are the normalised advantage, the loss, and after one step all
    weights.

    ## Likely causes
    1. The number of samples is not a multiple of the minibatch, and one is left over. Confirm: print the sizes of the
       minibatches.
    2. Advantages are normalised for each episode or each environment, and one has a single step. Confirm: the same.

    ## What to try first
    Normalise only what has two samples or more; choose minibatches that divide the number of samples.

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
        warned = evidence.says(
            r"(std|var)(_mean)?\(\): degrees of freedom is <= 0", "Degrees of freedom <= 0 for slice"
        )
        return warned or refused_parameter(evidence) == "one sample"

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        nan = evidence.nan or {}
        where, name = evidence.where, nan.get("name", "")
        if nan.get("one"):
            where = replace(where, file=nan["at"]["file"], line=nan["at"]["line"])
        one = f"; {name} is NaN, and has one element" if nan.get("one") else ""
        yield self.finding(
            "a single sample was normalised",
            where=where,
            seen=f"{evidence.said}{one or operands_told(evidence)}{nan_told(evidence)}",
            expected="at least two samples where a standard deviation is taken",
            help=f"leave out the normalisation where there is one sample: if {name or 'x'}.numel() > 1; or collect "
            "more for each update",
            confidence=0.75,
        )
