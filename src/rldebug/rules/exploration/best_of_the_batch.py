"""argmax goes over the batch, not over the actions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.answers import network
from rldebug.syntax.flow import meant
from rldebug.syntax.names import argument, constant, library, method, receiver
from rldebug.syntax.places import calls


@dataclass(frozen=True, kw_only=True)
class BestOfTheBatch(Rule):
    """argmax goes over the batch, not over the actions.

    ## What it checks
    `net(obs.unsqueeze(0)).argmax(0)`: the network is asked for one observation with an axis for the batch in front, and
    the best is looked for along that axis. Read from the source.

    ## Why it matters
    With one row in the batch the answer is 0 for every action: the agent always takes the first action, or the
    environment gets a vector of zeros.

    ## Likely causes
    1. The axis belongs to a network without a batch. Confirm: print the shape of the answer.

    ## What to try first
    `argmax(dim=-1)`.

    ## When it is fine
    Where the best row is looked for.

    ## References
    Mnih et al., *Human-level control through deep reinforcement learning*.
    """

    code: ClassVar[str] = "EXP622"
    name: ClassVar[str] = "best-of-the-batch"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("EXP001", "EXP301")

    def check(self, evidence: Source) -> Iterator[Finding]:
        for call in calls(evidence):
            subject, axis = _along(evidence, call)
            if subject is None or constant(axis) != 0:
                continue
            answer = meant(evidence, subject)
            while method(answer) in ("detach", "cpu", "numpy", "data") and (inner := receiver(answer)) is not None:
                answer = meant(evidence, inner)
            summed = _inner_axis_summed(evidence, answer)
            answer = meant(evidence, summed) if summed is not None else answer
            if not isinstance(answer, ast.Call) or network(evidence, answer) is None or len(answer.args) != 1:
                continue
            if summed is None and not _has_batch_axis(evidence, answer.args[0]):
                continue
            many = "" if summed is not None else ", of which there is one"
            yield self.finding(
                f"the best of {evidence.quoted(answer)} is looked for among the rows{many}",
                where=evidence.at(call),
                seen=evidence.quoted(call),
                expected="the best action of each row",
                help=f"{evidence.quoted(subject)}.argmax(dim=-1)",
                confidence=0.92,
            )


def _along(source: Source, call: ast.Call) -> tuple[ast.expr | None, ast.expr | None]:
    name = library(source, call)
    if name in ("torch.argmax", "numpy.argmax"):
        return argument(call, 0, "input", "a"), argument(call, 1, "dim", "axis")
    if not name and method(call) == "argmax":
        return receiver(call), argument(call, 0, "dim", "axis")
    return None, None


def _inner_axis_summed(source: Source, node: ast.expr) -> ast.expr | None:
    """`z` of `z.mean(dim=2)`: what has three axes or more has rows first, whatever it is given."""
    if isinstance(node, ast.Call) and method(node) in ("mean", "sum") and not library(source, node):
        axis = constant(argument(node, 0, "dim", "axis"))
        return (
            receiver(node) if isinstance(axis, int) and axis >= 2 and len(node.args) + len(node.keywords) == 1 else None
        )
    return None


def _has_batch_axis(source: Source, given: ast.expr) -> bool:
    """`x.unsqueeze(0)`, `x[None]`, `torch.tensor([obs])` of one thing."""
    given = meant(source, given)
    while method(given) in ("to", "float", "cuda") and (inner := receiver(given)) is not None:
        given = meant(source, inner)
    if method(given) == "unsqueeze" and isinstance(given, ast.Call):
        place = 1 if library(source, given) else 0
        return constant(argument(given, place, "dim")) == 0
    if isinstance(given, ast.Subscript):
        first = given.slice.elts[0] if isinstance(given.slice, ast.Tuple) else given.slice
        return isinstance(first, ast.Constant) and first.value is None
    return False
