"""The log-probs are averaged before they are weighted."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.flow import meant
from rldebug.syntax.losses import REDUCES, expanded
from rldebug.syntax.names import library, method, receiver
from rldebug.syntax.places import above, statement_of


@dataclass(frozen=True, kw_only=True)
class LogProbsAveragedFirst(Rule):
    """The log-probs are averaged before they are weighted.

    ## What it checks
    `log_probs.mean() * returns`, of which a sum or a mean is taken: one number times a vector. Read from the source.

    ## Why it matters
    The gradient is that of the mean log-prob times the sum of the returns. No action gets the credit for what followed
    it; with normalised returns their sum is 0 and nothing is learned.

    ## Likely causes
    1. The mean was taken too early. Confirm: read the line from inside out.

    ## What to try first
    `-(log_probs * returns).mean()`.

    ## When it is fine
    Where one weight belongs to a whole sequence; then nothing is left to be averaged after the product.

    ## References
    POL-03 of bench/bugs (Gymnasium PR 1337).
    """

    code: ClassVar[str] = "POL624"
    name: ClassVar[str] = "log-probs-averaged-first"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("POL305", "POL008", "POL015")

    def check(self, evidence: Source) -> Iterator[Finding]:
        for product in ast.walk(evidence.tree):
            if not (isinstance(product, ast.BinOp) and isinstance(product.op, ast.Mult)):
                continue
            for side, other in ((product.left, product.right), (product.right, product.left)):
                inner = _all_of(evidence, meant(evidence, _plain(side)))
                if inner is None or isinstance(other, ast.Constant) or not _reduced_later(evidence, product):
                    continue
                if not _is_score(evidence, inner):
                    continue
                scores = evidence.quoted(inner)
                yield self.finding(
                    f"{scores} is averaged before it meets {evidence.quoted(other)}: no step has credit of its own",
                    where=evidence.at(product),
                    seen=evidence.quoted(product),
                    expected="each log-prob is multiplied by its own weight, then the mean is taken",
                    help=f"-({scores} * {evidence.quoted(other)}).mean()",
                    confidence=0.93,
                )


def _plain(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.UnaryOp):
        node = node.operand
    return node


def _all_of(source: Source, node: ast.expr) -> ast.expr | None:
    """What a mean or a sum over all elements is taken of."""
    name = library(source, node)
    if not isinstance(node, ast.Call) or node.keywords:
        return None
    if name in ("torch.mean", "torch.sum"):
        return node.args[0] if len(node.args) == 1 else None
    return receiver(node) if not name and method(node) in REDUCES and not node.args else None


def _is_score(source: Source, node: ast.expr) -> bool:
    return any(method(each.leaf) == "log_prob" for each in expanded(source, node))


def _reduced_later(source: Source, product: ast.BinOp) -> bool:
    """Whether a sum or a mean is taken of the product: then the other factor is no single number."""
    chain = list(above(source, product))
    for each in chain[: chain.index(statement_of(source, product))]:
        if isinstance(each, ast.Call) and _all_of(source, each) is not None:
            return True
        if not isinstance(each, ast.UnaryOp | ast.BinOp | ast.Attribute):
            return False
    return False
