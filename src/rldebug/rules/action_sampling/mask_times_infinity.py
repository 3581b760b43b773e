"""A mask is multiplied by infinity: its zeros become NaN."""

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
from rldebug.syntax.names import constant, dotted, library, method, receiver, resolved

_INFINITE = frozenset({"math.inf", "numpy.inf", "numpy.Inf", "numpy.infty", "torch.inf"})
_NEVER_ZERO = frozenset({"ones", "ones_like", "full", "full_like", "exp", "new_ones"})


@dataclass(frozen=True, kw_only=True)
class MaskTimesInfinity(Rule):
    """A mask is multiplied by infinity: its zeros become NaN.

    ## What it checks
    `mask * inf`, with an array or tensor as the other factor, or something like `1 - mask`. inf may be
    `float("inf")`, `math.inf`, `np.inf` or `torch.inf`. Read from the source.

    ## Why it matters
    0 · ∞ is NaN, not 0: exactly the actions that are allowed get NaN. The argmax of it is arbitrary, and a softmax
    of it is NaN throughout.

    ## Likely causes
    1. A large number or `masked_fill` was meant. Confirm: `torch.tensor([0.0]) * float("inf")`.

    ## What to try first
    `logits.masked_fill(~allowed, float("-inf"))`, or `torch.where`.

    ## When it is fine
    Where the other factor is never 0.

    ## References
    ACT-17 and ACT-18 of bench/bugs.
    """

    code: ClassVar[str] = "ACT602"
    name: ClassVar[str] = "mask-times-infinity"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("ENT401",)

    def check(self, evidence: Source) -> Iterator[Finding]:
        for node in ast.walk(evidence.tree):
            if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)):
                continue
            for endless, other in ((node.left, node.right), (node.right, node.left)):
                if _infinite(evidence, endless) and _may_be_zero(evidence, other):
                    yield self.finding(
                        f"{evidence.quoted(other)} is multiplied by infinity: where it is 0 the product is NaN",
                        where=evidence.at(node),
                        seen=evidence.quoted(node),
                        expected="masked_fill, where, or a large finite number",
                        help="scores.masked_fill(forbidden, float('-inf'))",
                        confidence=0.95,
                    )


def _infinite(source: Source, node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        return _infinite(source, node.operand)
    if isinstance(node, ast.Call) and dotted(node.func) == "float" and node.args:
        return str(constant(node.args[0])).lower().lstrip("+-") in ("inf", "infinity")
    if resolved(source, node) in _INFINITE:
        return True
    made = meant(source, node) if isinstance(node, ast.Name) else node  # a constant of the module
    return made is not node and isinstance(made, ast.expr) and _infinite(source, made)


def _may_be_zero(source: Source, node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and constant(node.left) in (1, 1.0):
        return True
    made = meant(source, node)
    if method(made) in ("float", "int", "long", "double", "astype") and not isinstance(receiver(made), ast.Constant):
        return True
    last = method(made) or library(source, made).rpartition(".")[2]
    return kind(source, node) in ("tensor", "array") and last not in _NEVER_ZERO
