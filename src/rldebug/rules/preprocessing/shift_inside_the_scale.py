"""A value is scaled to -1 to 1, and the factor is shifted instead."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.names import constant


@dataclass(frozen=True, kw_only=True)
class ShiftInsideTheScale(Rule):
    """A value is scaled to -1 to 1, and the factor is shifted instead.

    ## What it checks
    `x * (2 / (high - low) - 1)`: the 1 is subtracted inside the parentheses. Read from the source.

    ## Why it matters
    The value is stretched by a strange factor and not shifted: it leaves the range -1 to 1, and its sign may be
    wrong.

    ## Likely causes
    1. A closing parenthesis is in the wrong place. Confirm: put in low and high; -1 and 1 must come out.

    ## What to try first
    `(x - low) * (2 / (high - low)) - 1`.

    ## When it is fine
    Nothing that is known of.

    ## References
    PRE-10 of bench/bugs.
    """

    code: ClassVar[str] = "PRE606"
    name: ClassVar[str] = "shift-inside-the-scale"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Source"

    def check(self, evidence: Source) -> Iterator[Finding]:
        for node in ast.walk(evidence.tree):
            if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)):
                continue
            for factor, value in ((node.left, node.right), (node.right, node.left)):
                if _shifted_factor(factor) and not isinstance(value, ast.Constant):
                    whole = evidence.quoted(node)
                    yield self.finding(
                        f"the 1 is taken off the factor of {evidence.quoted(value)}, which does not end up in -1 to 1",
                        where=evidence.at(node),
                        seen=whole,
                        expected="value * (2 / (high - low)) - 1",
                        help="close the parenthesis before the - 1",
                        confidence=0.85,
                    )


def _shifted_factor(node: ast.expr) -> bool:
    """`2 / (a - b) - 1`."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and constant(node.right) in (1, 1.0)):
        return False
    ratio = node.left
    if not (isinstance(ratio, ast.BinOp) and isinstance(ratio.op, ast.Div) and constant(ratio.left) in (2, 2.0)):
        return False
    return isinstance(ratio.right, ast.BinOp) and isinstance(ratio.right.op, ast.Sub)
