"""A tensor is changed before backward() has used it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ChangedBeforeBackward(Rule):
    """A tensor is changed before backward() has used it.

    ## What it checks
    The program ended with PyTorch's error that a tensor which the gradient needs was modified in place.

    ## Why it matters
    The gradient would be that of other numbers than the loss was computed from. PyTorch notices, older versions did
    not.

    ## Likely causes
    1. An optimizer steps between computing a loss and its `backward()`: the step changes weights that the other loss
       was computed with. Confirm: the shape in the message is that of a weight.
    2. An operation in place on an activation, an action or a recurrent state: `+=`, `clamp_`, writing into a slice.
       Confirm: run once under `torch.autograd.set_detect_anomaly(True)`; it names the line.
    3. A tensor with a graph was written into a buffer that is written again. Confirm: `requires_grad` of the buffer.

    ## What to try first
    Compute each loss after the previous step, or call every `backward()` before the first `step()`.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *Autograd mechanics*.
    """

    code: ClassVar[str] = "GRA402"
    name: ClassVar[str] = "changed-before-backward"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says("modified by an inplace operation")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        found = re.search(r"\[torch\.\S+ \[([\d, ]*)\]\]", evidence.message)
        shape = [int(each) for each in found.group(1).replace(" ", "").split(",") if each] if found else None
        weights = {
            tuple(each): fact["type"] for _, _, fact in evidence.held("network") for each in fact.get("shapes", [])
        }
        # A linear layer saves its weight turned round.
        owner = weights.get(tuple(shape), weights.get(tuple(reversed(shape)))) if shape else None
        seen = f"; a weight of {owner} has that shape" if owner else ""
        yield self.finding(
            "a weight was changed between the forward pass and backward()"
            if owner
            else "a tensor was changed between the forward pass and backward()",
            where=evidence.where,
            seen=f"{evidence.said}{seen}",
            expected="what a loss was computed from to stay as it was until its backward()",
            help="compute this loss after the optimizer step of the other one"
            if owner
            else "replace the operation in place (x += y) by one that makes a new tensor (x = x + y)",
            confidence=0.95,
        )
