"""Returns are summed without the discount that was handed over."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import default_of, parameters
from rldebug.syntax.flow import handed
from rldebug.syntax.numbers import number
from rldebug.syntax.places import Function, function_of
from rldebug.syntax.running import running_sums


@dataclass(frozen=True, kw_only=True)
class DiscountGivenNotUsed(Rule):
    """Returns are summed without the discount that was handed over.

    ## What it checks
    A loop from the last step to the first keeps `R = r + R`, while the function has a parameter that it never reads and
    that is a number between 0 and 1 by its default or by its calls. Read from the source.

    ## Why it matters
    Rewards of the far future count as much as the next one. Returns grow with the length of an episode, credit is
    spread over all its steps, and changing the discount changes nothing.

    ## Likely causes
    1. The factor was left out of the recursion. Confirm: change the discount, the returns stay the same.

    ## What to try first
    `R = r + gamma * R`.

    ## When it is fine
    Where episodes are short and the sum is meant; then take the parameter away.

    ## References
    RWD-06 of bench/bugs. Sutton and Barto, *Reinforcement learning*, 3.3.
    """

    code: ClassVar[str] = "DIS622"
    name: ClassVar[str] = "discount-given-not-used"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("DIS012", "DIS311", "DIS390")

    def check(self, evidence: Source) -> Iterator[Finding]:
        for each in running_sums(evidence):
            function = function_of(evidence, each.loop)
            if each.discount or each.direction != "backwards" or function is None:
                continue
            unread = next((one for one in _unread(function) if _is_share(evidence, one)), None)
            if unread is None:
                continue
            yield self.finding(
                f"{each.name} is summed without a discount: {unread.arg} is handed over and never used",
                where=evidence.at(each.step),
                seen=evidence.quoted(each.step),
                expected=f"what follows a step is multiplied by {unread.arg}",
                help=f"{each.name} = {evidence.quoted(each.added[0])} + {unread.arg} * {each.name}",
                confidence=0.9,
            )


def _unread(function: Function) -> list[ast.arg]:
    read = {each.id for each in ast.walk(function) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}
    return [each for each in parameters(function) if each.arg not in read and not each.arg.startswith("_")]


def _is_share(source: Source, parameter: ast.arg) -> bool:
    told = _told(source, parameter)
    return told is not None and 0.0 < told <= 1.0


def _told(source: Source, parameter: ast.arg) -> float | None:
    given = {number(source, each) for each in handed(source, parameter)} - {None}
    if len(given) == 1:
        return next(iter(given))
    function = function_of(source, parameter)
    return number(source, default_of(function, parameter.arg)) if function is not None else None
