"""The value itself is clamped to the clip range, not its change."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.answers import asked
from rldebug.syntax.flow import computed_from, meant, same
from rldebug.syntax.names import dotted
from rldebug.syntax.places import calls
from rldebug.syntax.ratios import clamped, exponent
from rldebug.syntax.regressions import regressions
from rldebug.syntax.sums import terms


@dataclass(frozen=True, kw_only=True)
class ValueClampedToRange(Rule):
    """The value itself is clamped to the clip range, not its change.

    ## What it checks
    `clamp(value, -eps, eps)` of a network's answer, where the same eps clips the ratio of the policy loss and the
    result is compared with a target. Read from the source.

    ## Why it matters
    Through the clipped branch the critic can never leave [-eps, eps]: larger returns are not learned, and advantages
    are returns.

    ## Likely causes
    1. The old value is missing in the formula. Confirm: `old + clamp(new - old, -eps, eps)`.

    ## What to try first
    `value_clipped = old_value + (value - old_value).clamp(-eps, eps)`.

    ## When it is fine
    Where returns are known to lie in that range.

    ## References
    VAL-01 of bench/bugs (CleanRL ee728e92). Huang et al., *The 37 implementation details of PPO*.
    """

    code: ClassVar[str] = "VAL622"
    name: ClassVar[str] = "value-clamped-to-range"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("VAL331", "VAL009", "VAL010")

    def check(self, evidence: Source) -> Iterator[Finding]:
        bounds = {name for call in calls(evidence) for name in _clip_range(evidence, call)}
        compared = [side for each in regressions(evidence) for side in (each.left, each.right)]
        for call in calls(evidence):
            given = clamped(evidence, call)
            if given is None or not _around_zero(given[1], given[2]) or dotted(given[2] or call) not in bounds:
                continue
            value = meant(evidence, given[0])
            if isinstance(value, ast.BinOp) or exponent(evidence, value):
                continue
            if not asked(evidence, value, graph=True) and not any(same(given[0], side) for side in compared):
                continue
            sums = [one for side in compared for one in computed_from(evidence, side)]
            if call in sums and not _added_to_old(evidence, call, sums):
                name = evidence.quoted(given[0])
                yield self.finding(
                    f"{name} itself is clamped to ±{dotted(given[2] or call)}: larger values cannot be learned",
                    where=evidence.at(call),
                    seen=evidence.quoted(call),
                    expected="the change of the value since the rollout is clamped",
                    help=f"old_value + ({name} - old_value).clamp(-eps, eps)",
                    confidence=0.92,
                )


def _clip_range(source: Source, call: ast.Call) -> Iterator[str]:
    """eps of clamp(ratio, 1 - eps, 1 + eps)."""
    given = clamped(source, call)
    if given is not None and isinstance(given[1], ast.BinOp) and isinstance(given[2], ast.BinOp):
        low, high = given[1], given[2]
        if isinstance(low.op, ast.Sub) and isinstance(high.op, ast.Add) and same(low.right, high.right):
            yield dotted(low.right)


def _around_zero(low: ast.expr | None, high: ast.expr | None) -> bool:
    return isinstance(low, ast.UnaryOp) and isinstance(low.op, ast.USub) and same(low.operand, high)


def _added_to_old(source: Source, call: ast.Call, sums: list[ast.expr]) -> bool:
    return any(
        isinstance(each, ast.BinOp)
        and isinstance(each.op, ast.Add)
        and any(meant(source, part) is call for _, part in terms(each))
        for each in sums
    )
