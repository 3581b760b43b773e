"""Losses are added up with their graphs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import reaching
from rldebug.syntax.names import constant, dotted, method, receiver
from rldebug.syntax.places import loops_of, scope_of, without_graph
from rldebug.syntax.sums import added_to
from rldebug.syntax.training import backward_calls


@dataclass(frozen=True, kw_only=True)
class LossSummedWithItsGraph(Rule):
    """Losses are added up with their graphs.

    ## What it checks
    A number that begins as a constant before a loop gets a loss added in it (`total += loss`), `backward()` is called
    on that loss, and never on the sum. Read from the source.

    ## Why it matters
    The sum is a tensor that keeps the graph of every update alive: memory grows from update to update, and each reading
    of it waits for the device.

    ## Likely causes
    1. `.item()` is missing. Confirm: read the line.

    ## What to try first
    `total += loss.item()`.

    ## When it is fine
    Where the sum itself is backpropagated; then the rule is quiet.

    ## References
    GRA-06 of bench/bugs.
    """

    code: ClassVar[str] = "GRA641"
    name: ClassVar[str] = "loss-summed-with-its-graph"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Source"

    def check(self, evidence: Source) -> Iterator[Finding]:
        backward = [(dotted(receiver(each) or each), each) for each in backward_calls(evidence)]
        trained = {name for name, _ in backward if name}
        for node in ast.walk(evidence.tree):
            parts = added_to(node)
            if parts is None or not isinstance(node, ast.stmt) or not loops_of(evidence, node):
                continue
            total, loss = dotted(parts[0]), dotted(parts[1])
            if loss not in trained or not total or total in trained or without_graph(evidence, node):
                continue
            if not _in_one_scope(evidence, node, [each for name, each in backward if name == loss]):
                continue
            if not _begins_as_number(evidence, node, parts[0]) or _goes_into_a_loss(evidence, node, total, trained):
                continue
            yield self.finding(
                f"{total} adds up {loss} with its graph: memory grows with every update",
                where=evidence.at(node),
                seen=evidence.quoted(node),
                expected="numbers in a sum that is only looked at",
                help=f"{total} += {loss}.item()",
                confidence=0.85,
                edits=(evidence.inserted_after(parts[1], ".item()"),),
            )


def _in_one_scope(source: Source, node: ast.AST, others: list[ast.Call]) -> bool:
    return any(scope_of(source, each) is scope_of(source, node) for each in others)


def _begins_as_number(source: Source, node: ast.stmt, total: ast.expr) -> bool:
    """Set to a constant before a loop that holds both; a tensor or an array it may begin as has its own way."""
    known = [each for each in reaching(source, total) if each.how == "assigned" and each.node is not node]
    numbers = [constant(each.whole) for each in known]
    return bool(numbers) and all(isinstance(each, int | float) for each in numbers)


def _goes_into_a_loss(source: Source, node: ast.stmt, total: str, trained: set[str]) -> bool:
    """Whether the sum is what is trained on or a part of that, or its graph is dropped later on."""
    for each in ast.walk(scope_of(source, node)):
        if isinstance(each, ast.Call) and method(each) in ("backward", "item", "detach", "cpu", "tolist"):
            if _reads(each, total):
                return True
        elif isinstance(each, ast.Assign) and _reads(each.value, total) and _binds(each, trained):
            return True
    return False


def _binds(statement: ast.Assign, names: set[str]) -> bool:
    return any(dotted(target) in names for target in statement.targets)


def _reads(node: ast.AST, name: str) -> bool:
    return any(isinstance(each, ast.Name | ast.Attribute) and dotted(each) == name for each in ast.walk(node))
