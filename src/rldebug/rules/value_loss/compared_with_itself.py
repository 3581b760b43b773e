"""A loss compares something with itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.answers import same_value
from rldebug.syntax.flow import computed_from, meant, same
from rldebug.syntax.names import method, receiver
from rldebug.syntax.regressions import regressions

_DRAWS = ("sample", "rsample", "rand", "randn", "randint", "normal")


@dataclass(frozen=True, kw_only=True)
class ComparedWithItself(Rule):
    """A loss compares something with itself.

    ## What it checks
    `mse_loss(x, x)`, `(x - x) ** 2`: the same expression on both sides, also where one has a second name or is
    detached. Read from the source.

    ## Why it matters
    The loss is 0 whatever the network says, and so is its gradient: nothing is learned, and the curve looks perfect.

    ## Likely causes
    1. The wrong name on one of the two sides. Confirm: the loss is exactly 0.

    ## What to try first
    Put the target on the right: `mse_loss(values, returns)`.

    ## When it is fine
    In a test of the loss itself.

    ## References
    ADV-04 of bench/bugs is the same effect (CleanRL PR 337).
    """

    code: ClassVar[str] = "VAL621"
    name: ClassVar[str] = "compared-with-itself"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("VAL002", "VAL010", "VAL360")

    def check(self, evidence: Source) -> Iterator[Finding]:
        for each in regressions(evidence):
            left, right = _plain(evidence, each.left), _plain(evidence, each.right)
            if left is not right and not same_value(evidence, left, right):
                continue
            if left is right and not same(each.left, each.right) and "create_graph" in evidence.text:
                continue  # 0 with its first derivative; the second one is asked for
            if any(method(one) in _DRAWS for one in computed_from(evidence, left)):
                continue  # drawn twice: two different things
            yield self.finding(
                f"{evidence.quoted(each.left)} is compared with itself: the loss is always 0",
                where=evidence.at(each.node),
                seen=evidence.quoted(each.node),
                expected="the prediction on one side, its target on the other",
                help="put the target on one of the sides",
                confidence=0.95,
            )


def _plain(source: Source, node: ast.expr) -> ast.expr:
    node = meant(source, node)
    while method(node) in ("detach", "clone") and (inner := receiver(node)) is not None:
        node = meant(source, inner)
    return node
