"""A gradient that is NaN or infinite is replaced before the optimizer gets to see it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Audit, Event, Script
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class NonfiniteGradientReplaced(Rule):
    """A gradient that is NaN or infinite is replaced before the step.

    ## What it checks
    The gradient at the output of a network, while the program's own backward pass runs by. It is not finite, though the
    loss is; and the optimizer then makes a step along gradients that are all finite. Again and again.

    ## Why it matters
    Nothing fails, and nothing is learned: a gradient that is set to 0 leaves the weights as they are, whatever the loss
    says, and the moments of the optimizer fade.

    ## Likely causes
    1. A function whose derivative is infinite where its value is finite: `sqrt` or `norm` at 0, a power below 1 at 0,
       `log` beneath a `torch.where`. Confirm: `torch.autograd.detect_anomaly()` names the operation.
    2. A library replaces what is not finite without ending the run: RLlib's learners do, and log it once
       (`torch_skip_nan_gradients=True` leaves such steps out instead). Confirm: its log.
    3. The program calls `nan_to_num_` on gradients. Confirm: search for it.

    ## What to try first
    Wrap one update in `torch.autograd.detect_anomaly()`: it names the forward operation. Add an epsilon inside.

    ## When it is fine
    Now and then in half precision, where the step is left out: such steps are not counted.

    ## References
    RLlib, `TorchLearner.apply_gradients`. PyTorch, *Autograd mechanics* (gradients for non-differentiable functions).
    """

    code: ClassVar[str] = "GRA304"
    name: ClassVar[str] = "nonfinite-gradient-replaced"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    times: int = 3  # that it was seen
    often: float = 0.2  # share of the steps: below, it is only worth a warning

    def check(self, evidence: Script) -> Iterator[Finding]:
        steps = 0
        found: list[tuple[Event, Event]] = []
        for audit in evidence.audits:
            for pushes, loss in _updates(audit):
                steps += 1
                bad = next((each for each in pushes if not np.isfinite(each.arrays["gradient"]).all()), None)
                if bad is not None and loss is not None and math.isfinite(float(loss.get("value") or 0.0)):
                    found.append((bad, loss))
        if not steps:
            raise NotEnough("no step was seen with the gradients of its loss")
        if len(found) < self.times:
            return
        bad, loss = found[0]
        yield self.finding(
            "a gradient that is not finite is replaced before the optimizer steps",
            where=loss.where,
            seen=f"at the output of {bad['module']} in {len(found)} of {steps} updates, with a finite loss and finite "
            "gradients in the step",
            expected="finite gradients of a finite loss",
            help="wrap one update in torch.autograd.detect_anomaly(): it names the operation to blame",
            confidence=0.95,
            severity="error" if len(found) >= self.often * steps else "warning",
        )


def _updates(audit: Audit) -> Iterator[tuple[list[Event], Event | None]]:
    """The gradients at outputs since the step before, and the loss that they came from, of steps that were finite."""
    pushes: list[Event] = []
    loss: Event | None = None
    for event in audit.of("loss", "gradient", "step"):
        if event.kind == "loss":
            pushes, loss = [], event
        elif event.kind == "gradient":
            pushes.append(event)
        else:
            norm = event.get("grad_norm")
            if pushes and norm is not None and math.isfinite(norm) and norm > 0:
                yield pushes, loss
