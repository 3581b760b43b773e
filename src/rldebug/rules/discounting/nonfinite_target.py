"""A value target is NaN or infinite while its ingredients are finite."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from rldebug.evidence.finite import nonfinite_at
from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class NonfiniteTarget(Rule):
    """A value target is NaN or infinite while its ingredients are finite.

    ## What it checks
    It walks the readings of a run in order; in the first one with a number that is not finite, the stage furthest
    upstream is blamed, and only that one. Here that stage is the value target: rewards, observations and the
    network's own outputs on this batch were finite.

    ## Why it matters
    The value loss and its gradient are NaN from this update on, and after the next step so are the weights.

    ## Likely causes
    1. 0 · inf: next values are masked with −inf (illegal actions, terminal rows) and then multiplied by a 0 of `(1 −
       terminated)`. Confirm: print the next values of terminal rows; use `torch.where` instead of the product.
    2. The target network's weights are not finite, or were never initialised. Confirm: `target_net/fingerprint` is
       not finite.
    3. A division by an importance weight, a count or a return's standard deviation that is 0. Confirm: repeat the
       target computation on the batch term by term.
    4. An n-step or λ recursion runs over rows that were never written. Confirm: `target/max` is absurd in earlier
       readings.

    ## What to try first
    Compute the target of one terminal row by hand, term by term.

    ## When it is fine
    Rows that are padded with NaN on purpose and masked out later: if everything computed from them stays finite, this
    is a note, not an error.

    ## References
    IEEE 754: 0 · ∞ is NaN. PyTorch, `torch.where`.
    """

    code: ClassVar[str] = "DIS009"
    name: ClassVar[str] = "nonfinite-target"
    severity: ClassVar[Severity] = "error"
    needs: ClassVar[tuple[str, ...]] = ("target/mean",)
    follows: ClassVar[tuple[str, ...]] = ("ENV001", "ENV002", "NET001", "ACT375")
    trap: ClassVar[bool] = True
    aftermath: ClassVar[bool] = True

    def check(self, evidence: Run) -> Iterator[Finding]:
        first = nonfinite_at(evidence, "target")
        if first is None:
            return
        place = replace(
            evidence.call("update"), update=first.reading.update, env_step=first.reading.env_step, tensor=first.series
        )
        yield self.finding(
            "a value target is not finite",
            where=place,
            seen=first.seen,
            expected="finite targets where rewards and values are finite",
            help="replace products with masks by torch.where, and look at what the bootstrap value is on terminal rows",
            confidence=first.confidence,
            severity="note" if first.spread is False else "error",
        )
