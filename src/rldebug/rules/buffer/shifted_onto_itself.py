"""A tensor is shifted onto itself without a copy."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.flow import same
from rldebug.syntax.kinds import kind


@dataclass(frozen=True, kw_only=True)
class ShiftedOntoItself(Rule):
    """A tensor is shifted onto itself without a copy.

    ## What it checks
    `x[:-1] = x[1:]` of one tensor, where what is written and what is read overlap and the right side is not cloned.
    Read from the source; NumPy copies by itself and is left alone.

    ## Why it matters
    PyTorch reads places that it has written already: rows are repeated, or the line raises an exception, depending
    on the device and the shape.

    ## Likely causes
    1. `.clone()` is missing on the right. Confirm: shift `torch.arange(8)` this way and look.

    ## What to try first
    `x[:-1] = x[1:].clone()`, or `x = torch.roll(x, -1, 0)`.

    ## When it is fine
    Nothing that is known of.

    ## References
    BUF-03 of bench/bugs.
    """

    code: ClassVar[str] = "BUF602"
    name: ClassVar[str] = "shifted-onto-itself"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("BUF406",)

    def check(self, evidence: Source) -> Iterator[Finding]:
        for node in ast.walk(evidence.tree):
            if not (isinstance(node, ast.Assign) and len(node.targets) == 1):
                continue
            to, of = node.targets[0], node.value
            if not (isinstance(to, ast.Subscript) and isinstance(of, ast.Subscript) and same(_base(to), _base(of))):
                continue
            if _overlap(to, of) and kind(evidence, to.value) in ("tensor", "parameter"):
                name = evidence.quoted(to.value)
                yield self.finding(
                    f"{name} is shifted onto itself: it reads places that it has written already",
                    where=evidence.at(node),
                    seen=evidence.quoted(node),
                    expected="the right side is copied first",
                    help=f"{evidence.quoted(to)} = {evidence.quoted(of)}.clone()",
                    confidence=0.95,
                    edits=(evidence.inserted_after(of, ".clone()"),),
                )


def _base(node: ast.Subscript) -> ast.expr:
    """x of `x[1:]`, written as something that is read."""
    base = node.value
    return ast.parse(ast.unparse(base), mode="eval").body


def _overlap(to: ast.Subscript, of: ast.Subscript) -> bool:
    """Whether two indices run over a shared stretch and begin at different places: `[:-k]` and `[k:]`."""
    left, right = (each.slice.elts if isinstance(each.slice, ast.Tuple) else [each.slice] for each in (to, of))
    if len(left) != len(right):
        return False
    differ = [(one, other) for one, other in zip(left, right, strict=True) if not same(one, other)]
    return len(differ) == 1 and all(_open(each) for each in differ[0]) and _ends(differ[0][0]) != _ends(differ[0][1])


def _open(node: ast.expr) -> bool:
    """A slice that is open at one end, and only there."""
    return isinstance(node, ast.Slice) and node.step is None and (node.lower is None) != (node.upper is None)


def _ends(node: ast.expr) -> bool:
    return isinstance(node, ast.Slice) and node.upper is None
