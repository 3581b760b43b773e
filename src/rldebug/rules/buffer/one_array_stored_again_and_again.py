"""One array is changed in place and stored again in every round."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import reaching
from rldebug.syntax.flow import within
from rldebug.syntax.kinds import kind
from rldebug.syntax.names import dotted, library, method, receiver
from rldebug.syntax.places import calls, loops_of

_NEW = "zeros ones empty full array zeros_like ones_like empty_like full_like tensor arange"
_MAKES = frozenset(_NEW.split())


@dataclass(frozen=True, kw_only=True)
class OneArrayStoredAgainAndAgain(Rule):
    """One array is changed in place and stored again in every round.

    ## What it checks
    In a loop, an array or tensor that was made before it is changed in place (`x[i] = …`, `x += …`) and appended to
    a list without a copy. Read from the source.

    ## Why it matters
    A list holds the array itself, not what was in it. After the loop every row shows its last contents:
    observations, returns or weights of all steps are the same.

    ## Likely causes
    1. `.copy()` or `.clone()` is missing. Confirm: `rows[0] is rows[1]`.

    ## What to try first
    `rows.append(x.copy())` for NumPy, `rows.append(x.clone())` for PyTorch.

    ## When it is fine
    Nothing that is known of.

    ## References
    BUF-01 of bench/bugs.
    """

    code: ClassVar[str] = "BUF604"
    name: ClassVar[str] = "one-array-stored-again-and-again"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("BUF306",)

    def check(self, evidence: Source) -> Iterator[Finding]:
        for call in calls(evidence):
            loops = loops_of(evidence, call)
            rows = receiver(call)
            if method(call) not in ("append", "appendleft") or not loops or rows is None or len(call.args) != 1:
                continue
            given = call.args[0].elts if isinstance(call.args[0], ast.Tuple | ast.List) else [call.args[0]]
            for each in given:
                made = _made_before(evidence, each, loops[0]) if isinstance(each, ast.Name) else None
                change = _changed(each.id, loops[0]) if made and isinstance(each, ast.Name) else None
                if change is not None and made is not None and _plain_list(evidence, rows, loops[0]):
                    copy = "clone" if kind(evidence, made) == "tensor" else "copy"
                    name = evidence.quoted(each)
                    yield self.finding(
                        f"{name} is stored without a copy and changed in line {change.lineno}: all rows are one",
                        where=evidence.at(call),
                        seen=f"{evidence.quoted(call)}, with {name} made once before the loop",
                        expected=f"a copy of {name} in each round",
                        help=f"{name}.{copy}()",
                        confidence=0.95,
                        edits=(evidence.inserted_after(each, f".{copy}()"),),
                    )


def _made_before(source: Source, name: ast.Name, loop: ast.AST) -> ast.expr | None:
    """The call that made an array, once, before a loop."""
    made = [each for each in reaching(source, name) if each.how != "augmented"]
    if len(made) != 1 or made[0].whole is None or within(loop, made[0].node):
        return None
    value = made[0].whole
    package, _, last = library(source, value).rpartition(".")
    return value if package in ("numpy", "torch") and last in _MAKES else None


def _changed(name: str, loop: ast.AST) -> ast.expr | None:
    """Where a loop changes an array in place: `x[i] = …`, also among other targets, and `x += …`."""
    for node in ast.walk(loop):
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
            return node.target
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and dotted(node.value) == name:
            return node
    return None


def _plain_list(source: Source, rows: ast.expr, loop: ast.AST) -> bool:
    """A list or deque that was made before the loop, and so keeps what every round puts in."""
    made = reaching(source, rows)
    if len(made) != 1 or made[0].whole is None or within(loop, made[0].node):
        return False
    value = made[0].whole
    name = (library(source, value) or dotted(value.func)) if isinstance(value, ast.Call) else ""
    return isinstance(value, ast.List) or name in ("list", "collections.deque")
