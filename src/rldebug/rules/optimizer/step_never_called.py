"""Gradients are made and cleared for an optimizer that never steps."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.names import dotted, method, receiver
from rldebug.syntax.places import calls
from rldebug.syntax.training import backward_calls, handed_over, optimizers


@dataclass(frozen=True, kw_only=True)
class StepNeverCalled(Rule):
    """Gradients are made and cleared for an optimizer that never steps.

    ## What it checks
    An optimizer is made in this file, `zero_grad()` is called on it and `backward()` on a loss, and nothing of its name
    is ever stepped; nobody else is handed it. Read from the source.

    ## Why it matters
    What it holds stays as it was made. With several optimizers the others still learn, and the run looks alive.

    ## Likely causes
    1. `step()` is missing. Confirm: look for it after `backward()`.
    2. With several optimizers, one is stepped twice. Confirm: compare the names.

    ## What to try first
    `optimizer.step()` after `backward()`.

    ## When it is fine
    Where a library steps it.

    ## References
    PyTorch, *Optimizing model parameters*.
    """

    code: ClassVar[str] = "OPT650"
    name: ClassVar[str] = "step-never-called"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("OPT007", "OPT316", "OPT318", "OPT350")

    def check(self, evidence: Source) -> Iterator[Finding]:
        if not any(True for _ in backward_calls(evidence)):
            return
        stepped = {_last(receiver(each)) for each in calls(evidence) if method(each) == "step"}
        for optimizer in optimizers(evidence):
            cleared = [
                each
                for each in calls(evidence)
                if method(each) == "zero_grad" and dotted(receiver(each) or each) == optimizer.name
            ]
            # `[]` and calls have no name: what is stepped there may be this one.
            if not cleared or {optimizer.name.rpartition(".")[2], ""} & stepped or handed_over(evidence, optimizer):
                continue
            elsewhere = (each for one in evidence.beside for each in calls(one) if method(each) == "step")
            if any(_last(receiver(each)) == optimizer.name.rpartition(".")[2] for each in elsewhere):
                continue
            yield self.finding(
                f"{optimizer.name} never steps: what it holds is not trained",
                where=evidence.at(cleared[0]),
                seen=f"{optimizer.name}.zero_grad() and backward(), and no {optimizer.name}.step()",
                expected="a step after each backward()",
                help=f"{optimizer.name}.step() after the backward()",
                confidence=0.92,
            )


def _last(node: ast.expr | None) -> str:
    return dotted(node).rpartition(".")[2] if node is not None else ""
