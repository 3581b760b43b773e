"""Returns that were summed from behind stay in that order."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.edits import replaced
from rldebug.syntax.names import dotted, method, receiver
from rldebug.syntax.order import only_summed_up
from rldebug.syntax.places import own_nodes, parents, scope_of
from rldebug.syntax.running import Running, container, reverses, running_sums

_ORDER_IS_NOTHING = ("sum", "mean", "max", "min", "len", "std", "var", "sorted", "print")


@dataclass(frozen=True, kw_only=True)
class ReturnsLeftReversed(Rule):
    """Returns that were summed from behind stay in that order.

    ## What it checks
    A loop over the steps from the last to the first appends `R = r + gamma * R` to a list, and nothing in the file
    turns that list round again. Read from the source.

    ## Why it matters
    The return of the last step meets the log-prob of the first one. Credit goes to the wrong steps of the episode; the
    loss looks as always.

    ## Likely causes
    1. `insert(0, R)` was replaced by append() to save time, without turning the list round at the end. Confirm: rewards
       of 0, 0, 1 must give g², g, 1.

    ## What to try first
    `returns.insert(0, R)`, or `returns.reverse()` after the loop.

    ## When it is fine
    Where everything it is paired with stands in the same order.

    ## References
    Sutton and Barto, *Reinforcement learning*, 3.3.
    """

    code: ClassVar[str] = "DIS621"
    name: ClassVar[str] = "returns-left-reversed"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("DIS001", "DIS011", "DIS014", "ADV321")

    def check(self, evidence: Source) -> Iterator[Finding]:
        for each in running_sums(evidence):
            if each.direction != "backwards" or any(how != "append" for _, how in each.kept):
                continue
            if _turned_back(evidence, each) or _others_kept(each):
                continue
            for statement, _ in each.kept:
                made = container(statement)
                name = dotted(made) if made is not None else ""
                if made is None or not name or not _order_matters(evidence, each, name):
                    continue
                if only_summed_up(evidence, made):
                    continue
                call = statement.value if isinstance(statement, ast.Expr) else None
                assert isinstance(call, ast.Call)
                given = evidence.quoted(call.args[0])
                yield self.finding(
                    f"{name} holds the last step first, and nothing turns it round",
                    where=evidence.at(call),
                    seen=f"for … in {evidence.quoted(each.loop.iter)}: {evidence.quoted(call)}",
                    expected="the return of the first step stands first, beside its log-prob",
                    help=f"{name}.insert(0, {given})",
                    edits=replaced(evidence, call, f"{name}.insert(0, {given})"),
                    confidence=0.9,
                )


def _turned_back(source: Source, each: Running) -> bool:
    """Whether anything else in the file turns a sequence round; loops over other sequences from behind do not count."""
    names = {dotted(made) for statement, _ in each.kept if (made := container(statement)) is not None}
    popped = {f"{each}.pop" for each in names if each}
    loops = [loop for loop in ast.walk(source.tree) if isinstance(loop, ast.For)]
    iterators = {node: loop.iter for loop in loops for node in ast.walk(loop.iter)}
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and dotted(node.func) == "range":
            continue
        if isinstance(node, ast.Call) and method(node) == "pop" and not node.args and dotted(node.func) in popped:
            return True  # read from behind
        if reverses(source, node) or _backwards_index(node):
            inside = {dotted(one) for one in ast.walk(iterators.get(node, node)) if dotted(one)}
            if node not in iterators or inside & names:
                return True
    return False


def _backwards_index(node: ast.AST) -> bool:
    """`x[-1 - t]`, `x[n - 1 - t]`."""
    if not isinstance(node, ast.Subscript):
        return False
    index = node.slice
    return isinstance(index, ast.BinOp) and isinstance(index.op, ast.Sub) and isinstance(index.right, ast.Name)


def _others_kept(each: Running) -> bool:
    """Whether the loop appends other things as well: they stand in the same order, and may be its partners."""
    kept = {statement for statement, _ in each.kept}
    return any(
        isinstance(node, ast.Expr) and method(node.value) in ("append", "insert", "appendleft") and node not in kept
        for node in own_nodes(each.loop)
    )


def _order_matters(source: Source, each: Running, name: str) -> bool:
    up = parents(source)
    for node in ast.walk(scope_of(source, each.loop)):
        if not (isinstance(node, ast.Name | ast.Attribute) and dotted(node) == name and isinstance(node.ctx, ast.Load)):
            continue
        parent = up.get(node)
        if isinstance(parent, ast.Attribute):
            if parent.attr not in ("append", "clear"):
                return True
        elif isinstance(parent, ast.Call):
            does = method(parent) or dotted(parent.func)
            if does not in _ORDER_IS_NOTHING and receiver(parent) is not node:
                return True
        elif parent is not None and not isinstance(parent, ast.Subscript):
            return True
    return False
