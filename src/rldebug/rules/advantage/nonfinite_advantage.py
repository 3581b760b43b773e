"""An advantage is NaN or infinite while value and target are finite."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from rldebug.evidence.finite import nonfinite_at
from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class NonfiniteAdvantage(Rule):
    """An advantage is NaN or infinite while value and target are finite.

    ## What it checks
    It walks the readings of a run in order; in the first one with a number that is not finite, the stage furthest
    upstream is blamed, and only that one. Here that stage is the advantage: rewards, values and targets on this batch
    were finite.

    ## Why it matters
    The policy loss is NaN, and after the next optimizer step so is the policy; the crash usually comes later, when
    actions are sampled.

    ## Likely causes
    1. Normalisation of a batch of one row: the standard deviation of one sample is undefined (torch divides by N −
       1). Confirm: `batch/rows` is 1 in the same reading: the rollout's size is one more than a multiple of the
       minibatch's.
    2. Normalisation divides by a standard deviation that is 0: all advantages of the batch are equal and nothing is
       added. Confirm: add 1e-8 to the standard deviation and run again.
    3. The recursion runs over rows that were never written, or divides by a trace that is 0. Confirm: hand over the
       advantages before normalisation.

    ## What to try first
    Print the number of rows and `advantage.std()` of that minibatch.

    ## When it is fine
    Rows that are padded with NaN on purpose and masked out later: if everything computed from them stays finite, this
    is a note, not an error.

    ## References
    PyTorch, `torch.std` (Bessel's correction). Huang et al., *The 37 Implementation Details of PPO* (advantage
    normalisation).
    """

    code: ClassVar[str] = "ADV006"
    name: ClassVar[str] = "nonfinite-advantage"
    severity: ClassVar[Severity] = "error"
    needs: ClassVar[tuple[str, ...]] = ("advantage/mean",)
    follows: ClassVar[tuple[str, ...]] = ("ENV001", "ENV002", "NET001", "DIS009")
    trap: ClassVar[bool] = True

    def check(self, evidence: Run) -> Iterator[Finding]:
        first = nonfinite_at(evidence, "advantage")
        if first is None:
            return
        rows = first.reading.numbers.get("batch/rows")
        place = replace(
            evidence.call("update"), update=first.reading.update, env_step=first.reading.env_step, tensor=first.series
        )
        yield self.finding(
            "an advantage is not finite" if rows != 1 else "the advantage of a batch of one row is not finite",
            where=place,
            seen=first.seen,
            expected="finite advantages where values and targets are finite",
            help="one row has no standard deviation: choose a minibatch size that divides the rollout, or drop the rest"
            if rows == 1
            else "add a small epsilon to the standard deviation; look for a batch whose advantages are all equal",
            confidence=first.confidence,
            severity="note" if first.spread is False else "error",
        )
