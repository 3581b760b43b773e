"""A loss is NaN or infinite while what it is computed from is finite."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from rldebug.evidence.finite import nonfinite_at, recorded
from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class NonfiniteLoss(Rule):
    """A loss is NaN or infinite while what it is computed from is finite.

    ## What it checks
    It walks the readings of a run in order; in the first one with a number that is not finite, the stage furthest
    upstream is blamed, and only that one. Here that stage is a loss handed over by name: values, targets, advantages
    and log-probs on this batch were finite, where they are recorded.

    ## Why it matters
    Backpropagating it makes every gradient NaN; one optimizer step later so is every weight.

    ## Likely causes
    1. A mean over no rows: the mask of the loss is empty on this batch, or a sum is divided by a count of 0. Confirm:
       print the number of selected rows; divide by `count.clamp(min=1)`.
    2. A probability is used where a log-prob belongs: `log(0)`, or 0 · log 0 in a hand-written entropy. Confirm: use
       `log_softmax` or the distribution's own `log_prob` and `entropy`.
    3. The ratio `exp(logp_new − logp_old)` overflows and is multiplied by 0. Confirm: `policy/log_ratio_absmax` is
       above 80.
    4. Half precision: the loss exceeds 65 504. Confirm: compute the loss outside `autocast`.

    ## What to try first
    Compute the loss of this batch row by row, and look at the first row that is not finite.

    ## When it is fine
    A loop that tests the loss and skips such batches: then gradients and weights stay finite and this is a note.

    ## References
    PyTorch, *Automatic Mixed Precision examples*. PyTorch, `torch.autograd.detect_anomaly`.
    """

    code: ClassVar[str] = "POL011"
    name: ClassVar[str] = "nonfinite-loss"
    severity: ClassVar[Severity] = "error"
    follows: ClassVar[tuple[str, ...]] = (
        "ENV001",
        "ENV002",
        "NET001",
        "DIS009",
        "ADV006",
        "OPT004",
        "GRA004",
        "ENT401",
        "ADV401",
    )
    trap: ClassVar[bool] = True
    aftermath: ClassVar[bool] = True

    def check(self, evidence: Run) -> Iterator[Finding]:
        first = nonfinite_at(evidence, "loss")
        if first is None:
            if not recorded(evidence, "loss"):
                raise NotEnough("no losses were handed over")
            return
        place = replace(
            evidence.call("update"), update=first.reading.update, env_step=first.reading.env_step, tensor=first.series
        )
        yield self.finding(
            f"the {first.series.removeprefix('loss/')} loss is not finite",
            where=place,
            seen=first.seen,
            expected="a finite loss for finite values, targets, advantages and log-probs",
            help="compute this loss row by row: look for a mean over no rows, a log of 0, and an exp that overflows",
            confidence=first.confidence,
            severity="note" if first.spread is False else "error",
        )
