"""A column of predictions is compared with a row of targets."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.answers import network
from rldebug.syntax.flow import meant
from rldebug.syntax.ranks import rank
from rldebug.syntax.regressions import Regression, regressions


@dataclass(frozen=True, kw_only=True)
class ComparedAcrossRanks(Rule):
    """A column of predictions is compared with a row of targets.

    ## What it checks
    The two sides of a squared error, where the text tells their axes: (rows, 1) out of `gather(1, …)` or of a last
    layer of width 1 on one side, (rows,) out of `max(1)`, a list of numbers or `squeeze(1)` on the other. Read from the
    source.

    ## Why it matters
    The two are spread to (rows, rows): every prediction is compared with every target. The loss falls as always, and
    every prediction goes to the mean of the targets.

    ## Likely causes
    1. `squeeze(1)` is missing at the prediction, or `unsqueeze(1)` at the target. Confirm: print both shapes.

    ## What to try first
    `net(obs).squeeze(-1)`.

    ## When it is fine
    Where all pairs are meant.

    ## References
    VAL-08 of bench/bugs (Tianshou PR 155).
    """

    code: ClassVar[str] = "VAL623"
    name: ClassVar[str] = "compared-across-ranks"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("VAL005", "VAL011", "VAL330", "VAL430")

    def check(self, evidence: Source) -> Iterator[Finding]:
        for each in (*regressions(evidence), *_of_answers(evidence)):
            axes = rank(evidence, each.left), rank(evidence, each.right)
            if set(axes) != {1, 2}:
                continue
            column, row = (each.left, each.right) if axes[0] == 2 else (each.right, each.left)
            yield self.finding(
                f"{evidence.quoted(column)} is a column and {evidence.quoted(row)} has no second axis: all meet all",
                where=evidence.at(each.node),
                seen=evidence.quoted(each.node),
                expected="both sides with the same shape",
                help=f"{evidence.quoted(column)}.squeeze(1)",
                confidence=0.88,
            )


def _of_answers(source: Source) -> Iterator[Regression]:
    """Differences that are squared nowhere: `returns - net(states)`. Who wants all pairs makes the axis by hand."""
    known = {id(side) for each in regressions(source) for side in (each.left, each.right)}
    for node in ast.walk(source.tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and id(node.left) not in known:
            sides = [meant(source, each) for each in (node.left, node.right)]
            if any(isinstance(each, ast.Call) and network(source, each) is not None for each in sides):
                yield Regression(node, node.left, node.right)
