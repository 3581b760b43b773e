"""A target adds the value of the state itself, not of the one after it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.answers import asked, bootstraps, same_value
from rldebug.syntax.flow import computed_from, same
from rldebug.syntax.names import library, method, resolved
from rldebug.syntax.places import above, function_of
from rldebug.syntax.regressions import regressions
from rldebug.syntax.sums import factors, terms

_SHIFTS = ("roll", "flip", "narrow", "index_select", "unfold")


@dataclass(frozen=True, kw_only=True)
class OwnValueAdded(Rule):
    """A target adds the value of the state itself, not of the one after it.

    ## What it checks
    `r[t] + gamma * v[t] - v[t]` with the same index in both places; and an error between the answer for `obs` and
    `r + gamma * answer` for the very same `obs`. Read from the source.

    ## Why it matters
    The value of a state is r / (1 - gamma) then, whatever comes after it. Nothing of the future is learned.

    ## Likely causes
    1. `t + 1` was meant. Confirm: read the index.
    2. The current observation stands where the next one belongs. Confirm: read the arguments of both calls.

    ## What to try first
    `r[t] + gamma * v[t + 1] - v[t]`, `r + gamma * net(next_obs)`.

    ## When it is fine
    In a task of a single state. Nothing is said where a network is asked about a sequence at once, and its answers are
    shifted by a step.

    ## References
    Sutton and Barto, *Reinforcement learning*, 6.1.
    """

    code: ClassVar[str] = "DIS626"
    name: ClassVar[str] = "own-value-added"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("DIS306", "DIS011", "DIS014")

    def check(self, evidence: Source) -> Iterator[Finding]:
        told: set[int] = set()
        for node in ast.walk(evidence.tree):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
                for value in _subtracted_again(node):
                    if node.lineno not in told:
                        told.add(node.lineno)
                        yield self._told(evidence, node, value, node)
        for each in regressions(evidence):
            for guess, goal in ((each.left, each.right), (each.right, each.left)):
                answers = asked(evidence, guess)
                for total, term in bootstraps(evidence, goal):
                    for call in asked(evidence, term):
                        twin = any(
                            _asks_the_same(evidence, call, one)
                            for one in answers
                            if _at_once(evidence, guess, call, one)
                            and not _moved(evidence, term, call)
                            and not _moved(evidence, guess, one)
                        )
                        if twin and call.lineno not in told and not any(bootstraps(evidence, guess)):
                            told.add(call.lineno)
                            yield self._told(evidence, total, call, call)

    def _told(self, evidence: Source, total: ast.expr, value: ast.expr, place: ast.expr) -> Finding:
        name = evidence.quoted(value)
        return self.finding(
            f"{name} is the value of the step itself: the target adds it where the next step's belongs",
            where=evidence.at(place),
            seen=evidence.quoted(total),
            expected="the value of the state after the step",
            help=f"take the next step in place of {name}",
            confidence=0.9,
        )


def _subtracted_again(node: ast.BinOp) -> Iterator[ast.expr]:
    """v[t] of `r[t] + gamma * v[t] - v[t]`."""
    parts = list(terms(node))
    taken = [part for sign, part in parts if sign < 0 and isinstance(part, ast.Subscript)]
    if len(parts) < 3:
        return
    for sign, part in parts:
        inside = factors(part)[1]
        if sign > 0 and len(inside) > 1:
            yield from (each for each in inside if any(same(each, one) for one in taken))


def _at_once(source: Source, guess: ast.expr, *calls: ast.Call) -> bool:
    """Whether both are made where the error is: what a method gives is not the same each time that it is called. Nor is
    what a distribution is made of a value."""
    here = function_of(source, guess)
    return all(function_of(source, each) is here and not _in_distribution(source, each) for each in calls)


def _moved(source: Source, expression: ast.expr, call: ast.Call) -> bool:
    """Whether only a stretch of what a call answers is taken, or all of it shifted: a sequence is asked about at once,
    and the answer for the next step is the next of its answers."""
    on_the_way = computed_from(source, expression, until=lambda each: each is call)
    return any(_shifts(source, each) and call in computed_from(source, each) for each in on_the_way)


def _shifts(source: Source, node: ast.expr) -> bool:
    if isinstance(node, ast.Subscript):
        places = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return any(
            isinstance(each, ast.BinOp) or (isinstance(each, ast.Slice) and bool(each.lower or each.upper))
            for each in places
        )
    return isinstance(node, ast.Call) and (library(source, node).rpartition(".")[2] or method(node)) in _SHIFTS


def _in_distribution(source: Source, call: ast.Call) -> bool:
    return any(
        isinstance(each, ast.Call) and resolved(source, each.func).startswith("torch.distributions.")
        for each in above(source, call)
    )


def _asks_the_same(source: Source, one: ast.Call, other: ast.Call) -> bool:
    """Whether two calls of networks are given the same; which network it is does not matter."""
    if one is other or len(one.args) != len(other.args) or not one.args or one.keywords or other.keywords:
        return False
    return all(same_value(source, a, b) for a, b in zip(one.args, other.args, strict=True))
