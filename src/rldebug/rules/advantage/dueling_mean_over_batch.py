"""A dueling head takes the mean over the whole batch."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.answers import asked
from rldebug.syntax.bindings import class_of_method
from rldebug.syntax.edits import replaced
from rldebug.syntax.flow import meant, same
from rldebug.syntax.kinds import class_kind
from rldebug.syntax.names import argument, constant, library, method, receiver
from rldebug.syntax.places import function_of
from rldebug.syntax.sums import terms


@dataclass(frozen=True, kw_only=True)
class DuelingMeanOverBatch(Rule):
    """A dueling head takes the mean over the whole batch.

    ## What it checks
    `value + advantage - advantage.mean()` in a method of a network: the mean has no axis, or the axis of the batch.
    Read from the source.

    ## Why it matters
    The Q-values of a state depend on the other states in the batch. The network that acts on one observation is another
    one than the network that was trained.

    ## Likely causes
    1. The axis was forgotten. Confirm: ask the network for a row alone and in a batch; both must be equal.

    ## What to try first
    `value + advantage - advantage.mean(dim=-1, keepdim=True)`.

    ## When it is fine
    Where the method is only ever given one observation without an axis for the batch.

    ## References
    ADV-14 of bench/bugs (easy-rl issue 140). Wang et al., *Dueling network architectures*.
    """

    code: ClassVar[str] = "ADV621"
    name: ClassVar[str] = "dueling-mean-over-batch"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("NET306",)

    def check(self, evidence: Source) -> Iterator[Finding]:
        told: set[ast.AST] = set()
        for node in ast.walk(evidence.tree):
            if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub)):
                continue
            function = function_of(evidence, node)
            owner = class_of_method(evidence, function) if function is not None else None
            if owner is None or class_kind(evidence, owner) != "module":
                continue
            parts = list(_opened(evidence, node))
            for sign, part in parts:
                subject = _over_batch(evidence, part)
                if sign > 0 or subject is None or part in told:
                    continue
                others = [each for more, each in parts if more > 0]
                heads = [each for each in others if not same(each, subject) and asked(evidence, each)]
                if not any(same(each, subject) for each in others) or not heads or not asked(evidence, subject):
                    continue
                told.add(part)
                where, name = evidence.at(part), evidence.quoted(subject)
                right = f"{name}.mean(dim=-1, keepdim=True)"
                yield self.finding(
                    f"the mean of {name} is taken over the batch: one state's values depend on the others",
                    where=where,
                    seen=evidence.quoted(node),
                    expected="the mean over the actions of each state",
                    help=right,
                    edits=replaced(evidence, part, right),
                    confidence=0.93,
                )


def _opened(source: Source, node: ast.expr) -> Iterator[tuple[int, ast.expr]]:
    """The terms of a sum, also those of a difference that has a name."""
    for sign, part in terms(node):
        inner = meant(source, part)
        if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Sub):
            yield from terms(inner, sign)
        else:
            yield sign, part


def _over_batch(source: Source, node: ast.expr) -> ast.expr | None:
    """What a mean without an axis, or over the first one, is taken of."""
    if library(source, node) == "torch.mean" and isinstance(node, ast.Call):
        subject, axis = argument(node, 0, "input"), argument(node, 1, "dim", "axis")
    elif method(node) == "mean" and isinstance(node, ast.Call) and not library(source, node):
        subject, axis = receiver(node), argument(node, 0, "dim", "axis")
    else:
        return None
    return subject if axis is None or constant(axis) == 0 else None
