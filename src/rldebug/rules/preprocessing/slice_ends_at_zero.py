"""A slice that counts from the end stops at the beginning: it is empty."""

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
class SliceEndsAtZero(Rule):
    """A slice that counts from the end stops at the beginning: it is empty.

    ## What it checks
    `x[-k:0]`, with k a number: from the end up to the first element, forwards. That holds nothing. Read from the
    source.

    ## Why it matters
    Assigning to it does nothing, and reading it gives an array of length 0. Parts of an observation that were to be
    hidden or cut out stay as they are.

    ## Likely causes
    1. `x[-k:]` was meant. Confirm: `x[-2:0].size` is 0.

    ## What to try first
    `x[-k:]`.

    ## When it is fine
    Nothing that is known of.

    ## References
    PRE-05 of bench/bugs.
    """

    code: ClassVar[str] = "PRE602"
    name: ClassVar[str] = "slice-ends-at-zero"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("PRE011",)

    def check(self, evidence: Source) -> Iterator[Finding]:
        for node in ast.walk(evidence.tree):
            if not isinstance(node, ast.Subscript):
                continue
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            for each in parts:
                if isinstance(each, ast.Slice) and each.upper is not None and _empty(each):
                    whole, begin = evidence.quoted(node), evidence.quoted(each.lower or each)
                    yield self.finding(
                        f"{whole} is always empty: it runs forwards from {begin} to the first element",
                        where=evidence.at(node),
                        seen=whole,
                        expected=f"the last ones: [{begin}:]",
                        help=f"write {begin}: and leave the 0 out",
                        confidence=0.97,
                        edits=(evidence.replaced(each.upper, ""),),
                    )


def _empty(part: ast.Slice) -> bool:
    first = constant(part.lower)
    forwards = part.step is None or constant(part.step) == 1
    return isinstance(first, int) and first < 0 and constant(part.upper) == 0 and forwards
