"""A gradient is NaN or infinite while the loss is finite."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from rldebug.evidence.finite import nonfinite_at
from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class NonfiniteGradient(Rule):
    """A gradient is NaN or infinite while the loss is finite.

    ## What it checks
    It walks the readings of a run in order; in the first one with a number that is not finite, the stage furthest
    upstream is blamed, and only that one. Here that stage is the gradient the optimizer was given: the losses of the
    same update were finite.

    ## Why it matters
    The optimizer step writes NaN into every weight such a gradient touches, and no later step can repair them.

    ## Likely causes
    1. A function whose derivative is infinite where its value is finite: `sqrt` or `norm` at 0, `acos` at 1, a power
       below 1 at 0. Confirm: `torch.autograd.detect_anomaly()` names the operation; add an epsilon inside.
    2. `torch.where` over a branch that is not taken but not finite: its gradient is 0 · inf. Confirm: make the
       argument safe before the function, not the result after it.
    3. Gradients are divided by their own norm, which is 0 for a layer that has none. Confirm: look at what the loop
       does between `backward()` and `step()`.
    4. Half precision without, or with a badly placed, gradient scaler: clipping before `unscale_`. Confirm: run one
       update in float32.

    ## What to try first
    Wrap the update in `torch.autograd.detect_anomaly()` once: it names the forward operation.

    ## When it is fine
    Mixed precision with a gradient scaler overflows now and then, and the step is skipped: the rule looks at whether
    the weights moved, and stays quiet.

    ## References
    PyTorch, *Autograd mechanics* (gradients for non-differentiable functions; `where` and NaN). PyTorch,
    `torch.autograd.detect_anomaly`.
    """

    code: ClassVar[str] = "GRA001"
    name: ClassVar[str] = "nonfinite-gradient"
    severity: ClassVar[Severity] = "error"
    needs: ClassVar[tuple[str, ...]] = ("grad/norm",)
    follows: ClassVar[tuple[str, ...]] = (
        "ENV001",
        "ENV002",
        "NET001",
        "DIS009",
        "ADV006",
        "POL011",
        "OPT004",
        "ENT401",
        "ADV401",
    )
    trap: ClassVar[bool] = True
    aftermath: ClassVar[bool] = True

    def check(self, evidence: Run) -> Iterator[Finding]:
        first = nonfinite_at(evidence, "gradient")
        if first is None:
            return
        place = replace(
            evidence.call("update"), update=first.reading.update, env_step=first.reading.env_step, tensor=first.series
        )
        yield self.finding(
            "a gradient is not finite",
            where=place,
            seen=first.seen,
            expected="finite gradients of a finite loss",
            help="wrap one update in torch.autograd.detect_anomaly(): it names the operation to blame",
            confidence=first.confidence,
            severity="note" if first.spread is False else "error",
        )
