"""The forward() of a network computes something and returns nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import classes
from rldebug.syntax.kinds import class_kind
from rldebug.syntax.places import own_nodes


@dataclass(frozen=True, kw_only=True)
class ForwardReturnsNothing(Rule):
    """The forward() of a network computes something and returns nothing.

    ## What it checks
    `forward()` of a class that is a network ends with the assignment of a name that nobody reads, and holds no
    `return` with a value, no `yield` and no `raise`. Read from the source.

    ## Why it matters
    Calling the network gives None, which the next line cannot use.

    ## Likely causes
    1. The `return` is missing. Confirm: read the last line.

    ## What to try first
    `return x` as the last line.

    ## When it is fine
    Where forward() only has effects: then it ends with no name bound.

    ## References
    PyTorch, *Build the neural network*.
    """

    code: ClassVar[str] = "NET643"
    name: ClassVar[str] = "forward-returns-nothing"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("NET406",)

    def check(self, evidence: Source) -> Iterator[Finding]:
        for owner in classes(evidence).values():
            if class_kind(evidence, owner) != "module":
                continue
            for forward in (each for each in owner.body if isinstance(each, ast.FunctionDef)):
                last = forward.body[-1]
                if forward.name != "forward" or _gives(forward) or not isinstance(last, ast.Assign):
                    continue
                names = [each.id for each in last.targets if isinstance(each, ast.Name)]
                if len(names) == len(last.targets) == 1:
                    yield self.finding(
                        f"forward() of {owner.name} returns nothing: {names[0]} is thrown away",
                        where=evidence.at(last),
                        seen=f"{evidence.quoted(last)} as the last line of forward(), and no return",
                        expected="what the network computes is returned",
                        help=f"return {names[0]}",
                        confidence=0.96,
                    )


def _gives(forward: ast.FunctionDef) -> bool:
    return any(
        isinstance(each, ast.Yield | ast.YieldFrom | ast.Raise)
        or (isinstance(each, ast.Return) and each.value is not None)
        for each in own_nodes(forward)
    )
