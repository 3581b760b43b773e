"""Weights become NaN or infinite in a step whose gradients were finite."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from rldebug.evidence.finite import nonfinite_at
from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class NonfiniteWeight(Rule):
    """Weights become NaN or infinite in a step whose gradients were finite.

    ## What it checks
    It walks the readings of a run in order; in the first one with a number that is not finite, the stage furthest
    upstream is blamed, and only that one. Here that stage is the weights after an optimizer step: the gradients of
    that very step were finite.

    ## Why it matters
    From the next forward pass on every output of the network is NaN, and no gradient can bring a weight back.

    ## Likely causes
    1. Adam or RMSprop with `eps=0` meets a gradient that is exactly 0: 0/0. Confirm: `grad/zero_tensors` is above 0
       in the same reading; look at the optimizer's `eps`.
    2. The learning rate is NaN or infinite: a schedule divides by a count that is 0, or takes a root of a negative
       rest. Confirm: `optimizer/lr` in the same reading.
    3. The weights are changed by hand: re-initialised, averaged, copied from a broken checkpoint. Confirm: compare
       the step with `lr ·` gradient for plain SGD.
    4. The step overflows: weights and steps grew by orders of magnitude before. Confirm: `weight/norm` and
       `step/log10_ratio` in the readings before.

    ## What to try first
    Print the optimizer's parameter groups (`lr`, `eps`, `betas`) at that update.

    ## When it is fine
    Never: a weight that is not finite stays so.

    ## References
    Kingma and Ba, *Adam* (the role of ε). PyTorch, `torch.optim.Adam`.
    """

    code: ClassVar[str] = "NET002"
    name: ClassVar[str] = "nonfinite-weight"
    severity: ClassVar[Severity] = "error"
    needs: ClassVar[tuple[str, ...]] = ("weight/norm",)
    follows: ClassVar[tuple[str, ...]] = (
        "ENV001",
        "ENV002",
        "NET001",
        "DIS009",
        "ADV006",
        "POL011",
        "GRA001",
        "OPT004",
        "ENT401",
        "ADV401",
    )
    trap: ClassVar[bool] = True
    aftermath: ClassVar[bool] = True

    def check(self, evidence: Run) -> Iterator[Finding]:
        first = nonfinite_at(evidence, "weight")
        if first is None:
            return
        lr = first.reading.numbers.get(first.series.replace("weight/norm", "optimizer/lr"))
        place = replace(
            evidence.call("update"), update=first.reading.update, env_step=first.reading.env_step, tensor=first.series
        )
        yield self.finding(
            "weights became non-finite in a step with finite gradients",
            where=place,
            seen=first.seen,
            expected="finite weights after a step with finite gradients",
            help="look at the optimizer's settings: eps above 0, and a finite learning rate"
            + ("" if lr is None else f" (it is {lr:g})"),
            confidence=first.confidence,
            severity="note" if first.spread is False else "error",
        )
