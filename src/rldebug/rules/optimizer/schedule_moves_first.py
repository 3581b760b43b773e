"""The learning rate is moved on before the optimizer has used it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.flow import meant
from rldebug.syntax.kinds import kind
from rldebug.syntax.names import argument, dotted, library, method, receiver
from rldebug.syntax.training import blocks, event


@dataclass(frozen=True, kw_only=True)
class ScheduleMovesFirst(Rule):
    """The learning rate is moved on before the optimizer has used it.

    ## What it checks
    In one block of statements: `scheduler.step()` and only then `step()` of the optimizer that the schedule was made
    for, with none before. Read from the source.

    ## Why it matters
    The first rate of the schedule is never used, and each update uses the rate of the next one: a warm-up begins one
    step late, a drop comes one step early. PyTorch warns of it once.

    ## Likely causes
    1. The order of PyTorch before 1.1. Confirm: read the two lines.

    ## What to try first
    `optimizer.step()`, then `scheduler.step()`.

    ## When it is fine
    Where the first value of the schedule is left out on purpose.

    ## References
    PyTorch, *How to adjust learning rate*.
    """

    code: ClassVar[str] = "OPT651"
    name: ClassVar[str] = "schedule-moves-first"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("OPT421",)

    def check(self, evidence: Source) -> Iterator[Finding]:
        for block in blocks(evidence):
            calls = [each.value for each in block if isinstance(each, ast.Expr) and isinstance(each.value, ast.Call)]
            for place, call in enumerate(calls):
                name = _moves(evidence, call)
                if not name or _step(evidence, calls[:place], name) is not None:
                    continue
                later = _step(evidence, calls[place + 1 :], name)
                if later is not None:
                    schedule = evidence.quoted(call).removesuffix(".step()")
                    yield self.finding(
                        f"{schedule} moves on before {name} has used its rate",
                        where=evidence.at(call),
                        seen=f"{evidence.quoted(call)}, and {evidence.quoted(later)} on line {later.lineno}",
                        expected=f"{name}.step() first",
                        help=f"move {evidence.quoted(call)} below line {later.lineno}",
                        confidence=0.88,
                    )


def _moves(source: Source, call: ast.Call) -> str:
    """The name of the optimizer whose schedule a call moves on."""
    on = receiver(call)
    if method(call) != "step" or on is None or kind(source, on) != "scheduler":
        return ""
    made = meant(source, on)
    if not isinstance(made, ast.Call) or not library(source, made).startswith("torch.optim.lr_scheduler."):
        return ""
    return dotted(argument(made, 0, "optimizer") or made)


def _step(source: Source, calls: list[ast.Call], name: str) -> ast.Call | None:
    found = (each for each in calls if event(source, each) == "step" and dotted(receiver(each) or each) == name)
    return next(found, None)
