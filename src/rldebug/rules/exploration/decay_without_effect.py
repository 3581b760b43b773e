"""A number is made smaller in each round, and nothing reads it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import reaching
from rldebug.syntax.names import dotted
from rldebug.syntax.numbers import number, of_parameter
from rldebug.syntax.places import Function, own_nodes, scope_of


@dataclass(frozen=True, kw_only=True)
class DecayWithoutEffect(Rule):
    """A number is made smaller in each round, and nothing reads it.

    ## What it checks
    `eps = max(low, eps * 0.99)` or `eps *= 0.99`, where the name is local and read nowhere but in that very line. Read
    from the source.

    ## Why it matters
    The schedule has no effect: whoever acts still uses the number from the start. Exploration never ends, or never
    begins.

    ## Likely causes
    1. The agent keeps a number of its own, as an attribute or a constant. Confirm: print what the agent compares with.
    2. A function changes its parameter and does not return it. Confirm: read its last line.

    ## What to try first
    Hand the number over at each action, or decay the one that the agent reads.

    ## When it is fine
    Where the line is left over from an experiment; then it can go.

    ## References
    EXP-04 of bench/bugs.
    """

    code: ClassVar[str] = "EXP621"
    name: ClassVar[str] = "decay-without-effect"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("EXP002", "EXP300", "EXP390")

    def check(self, evidence: Source) -> Iterator[Finding]:
        for node in ast.walk(evidence.tree):
            name = _made_smaller(evidence, node)
            scope = scope_of(evidence, node)
            if not name or not isinstance(node, ast.stmt) or _known_outside(evidence, scope, name):
                continue
            if _read_elsewhere(evidence, scope, name):
                continue
            yield self.finding(
                f"{name} is made smaller here and read by nobody",
                where=evidence.at(node),
                seen=evidence.quoted(node),
                expected=f"what acts reads the {name} that falls",
                help=f"use {name} where the action is chosen, or decay the number that is used there",
                confidence=0.88,
            )


def _made_smaller(source: Source, node: ast.AST) -> str:
    """The name of `x *= 0.99`, `x = max(low, x * 0.99)`, `x = x * decay`, with a factor that is below one."""
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and isinstance(node.op, ast.Mult):
        return node.target.id if _share(source, node.value) and _is_number(source, node.target) else ""
    if not (isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)):
        return ""
    name, value = node.targets[0].id, node.value
    given = value.args if isinstance(value, ast.Call) and dotted(value.func) == "max" else [value]
    for each in given:
        if isinstance(each, ast.BinOp) and isinstance(each.op, ast.Mult):
            for one, other in ((each.left, each.right), (each.right, each.left)):
                if dotted(one) == name and _share(source, other):
                    return name
        if (
            each is not value
            and isinstance(each, ast.BinOp)
            and isinstance(each.op, ast.Sub)
            and dotted(each.left) == name
        ):
            return name
    return ""


def _is_number(source: Source, name: ast.Name) -> bool:
    """`*=` on a tensor or an array is felt by all who hold it."""
    found: set[float | None] = set()
    for each in reaching(source, name):
        found |= of_parameter(source, each.node) if isinstance(each.node, ast.arg) else {number(source, each.whole)}
    return bool(found - {None})


def _share(source: Source, node: ast.expr) -> bool:
    value = number(source, node)
    return value is not None and 0 < value < 1


def _known_outside(source: Source, scope: ast.AST, name: str) -> bool:
    """Names of a module, and names that are declared global, may be read by anybody."""
    if not isinstance(scope, Function):
        return any(
            name in {one.name for one in each.names}
            for each in ast.walk(source.tree)
            if isinstance(each, ast.ImportFrom | ast.Import)
        )
    return any(isinstance(each, ast.Global | ast.Nonlocal) and name in each.names for each in own_nodes(scope))


def _read_elsewhere(source: Source, scope: ast.AST, name: str) -> bool:
    own = [each for each in ast.walk(scope) if _made_smaller(source, each) == name]
    inside = {one for each in own for one in ast.walk(each)}
    return any(
        isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Load) and each not in inside
        for each in ast.walk(scope)
    )
