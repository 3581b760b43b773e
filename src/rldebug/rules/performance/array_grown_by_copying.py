"""An array grows in a loop by being copied each time."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import reaching
from rldebug.syntax.names import dotted, library
from rldebug.syntax.places import class_of, function_of, loops_of
from rldebug.syntax.stepping import steps

_COPIES = frozenset(
    [f"torch.{each}" for each in ("cat", "concat", "concatenate", "vstack", "hstack")]
    + [f"numpy.{each}" for each in ("append", "concatenate", "vstack", "hstack", "r_")]
)


@dataclass(frozen=True, kw_only=True)
class ArrayGrownByCopying(Rule):
    """An array grows in a loop by being copied each time.

    ## What it checks
    `x = torch.cat([x, row])`, `x = np.append(x, row)` and their like in a loop that steps an environment, for an `x`
    that is made before the loop. Read from the source.

    ## Why it matters
    Each round copies all that was collected so far: the time of a rollout grows with the square of its length.

    ## Likely causes
    1. NumPy's `append` was taken for that of a list. Confirm: read the line.

    ## What to try first
    Append to a list and stack it once, or fill an array of the final size.

    ## When it is fine
    For a few rows.

    ## References
    NumPy, *numpy.append*: a copy is returned.
    """

    code: ClassVar[str] = "PRF642"
    name: ClassVar[str] = "array-grown-by-copying"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "Source"

    def check(self, evidence: Source) -> Iterator[Finding]:
        stepped = [set(loops_of(evidence, each.call)) for each in steps(evidence)]
        for node in ast.walk(evidence.tree):
            if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.value, ast.Call):
                continue
            name, does = dotted(node.targets[0]), library(evidence, node.value)
            loops = set(loops_of(evidence, node))
            if not name or does not in _COPIES or not any(loops & each for each in stepped):
                continue
            old = next((each for each in ast.walk(node.value) if dotted(each) == name), None)
            if not isinstance(old, ast.expr) or not _made_before(evidence, old, node):
                continue
            yield self.finding(
                f"{name} is copied whole in each round to add a little to it",
                where=evidence.at(node),
                seen=evidence.quoted(node),
                expected="a list that is stacked once, or an array of the final size",
                help=f"{name}.append(…) to a list, and one {does.partition('.')[0]}.stack({name}) after the loop",
                confidence=0.85,
            )


def _made_before(source: Source, old: ast.expr, node: ast.Assign) -> bool:
    """Made outside of the innermost loop, and not only one item of the step before."""
    inner = loops_of(source, node)[0]
    others = [each for each in reaching(source, old) if each.node is not node]
    same = [function_of(source, each.node) is function_of(source, node) for each in others]
    outside = all(inner not in loops_of(source, each.node) for each in others)
    return bool(others) and outside and (all(same) or class_of(source, node) is not None)
