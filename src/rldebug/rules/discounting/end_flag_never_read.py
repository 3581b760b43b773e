"""Targets go on past the end: the flag is taken out and not used."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.answers import bootstrap
from rldebug.syntax.flow import computed_from
from rldebug.syntax.names import dotted, library
from rldebug.syntax.places import own_nodes, scope_of
from rldebug.syntax.sums import terms
from rldebug.syntax.transitions import ENDS, part, stored


@dataclass(frozen=True, kw_only=True)
class EndFlagNeverRead(Rule):
    """Targets go on past the end: the flag is taken out and not used.

    ## What it checks
    `target = r + gamma * net(next)`, where r is unpacked from a memory beside the flag that says whether the episode
    ended, and that flag is never read. Which is which is told by what env.step() gave and how it was put in. Read from
    the source.

    ## Why it matters
    A terminal state has no future. Its value is bootstrapped nevertheless, from a state that is never trained: values
    grow towards r / (1 - gamma) and terminal rewards drown.

    ## Likely causes
    1. The mask was forgotten. Confirm: the value of a terminal transition must be its reward.

    ## What to try first
    `target = r + gamma * (1 - done) * net(next)`.

    ## When it is fine
    In tasks without terminal states, where all episodes end by a time limit.

    ## References
    RWD-07 of bench/bugs. Mnih et al., *Human-level control through deep reinforcement learning*.
    """

    code: ClassVar[str] = "DIS624"
    name: ClassVar[str] = "end-flag-never-read"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("DIS010", "DIS300", "VAL012")

    def check(self, evidence: Source) -> Iterator[Finding]:
        if not any(ENDS & set(layout.values()) for layout in stored(evidence).values()):
            return
        for node in ast.walk(evidence.tree):
            if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)):
                continue
            term = bootstrap(evidence, node)
            if term is None or not any("reward" in part(evidence, each) for _, each in terms(node)):
                continue
            flags = _flags(evidence, node)
            if flags is None or _masked(evidence, node):
                continue
            named = f"{flags} is" if flags else "the flag of the end is"
            yield self.finding(
                f"the target goes on past the end of an episode: {named} taken out of the memory and never used",
                where=evidence.at(node),
                seen=evidence.quoted(node),
                expected="no future is added to the reward of a terminal step",
                help=f"multiply {evidence.quoted(term)} by (1 - {flags or 'done'})",
                confidence=0.88,
            )


def _flags(source: Source, node: ast.BinOp) -> str | None:
    """The name of the flag that was taken out of the memory in the same function; None where it is read."""
    scope = scope_of(source, node)
    for each in own_nodes(scope):
        if not (isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Tuple)):
            continue
        elements = each.targets[0].elts
        layout = stored(source).get(len(elements), {})
        places = [place for place, told in layout.items() if told in ENDS]
        if len(places) != 1 or not any("reward" in part(source, one) for one in _uses(scope, elements, layout)):
            continue
        name = dotted(elements[places[0]])
        return None if _read(scope, name) else name.strip("_")
    return None


def _uses(scope: ast.AST, elements: list[ast.expr], layout: dict[int, str]) -> list[ast.expr]:
    names = {dotted(elements[place]) for place, told in layout.items() if told == "reward"}
    return [
        each
        for each in ast.walk(scope)
        if isinstance(each, ast.Name | ast.Attribute) and dotted(each) in names and isinstance(each.ctx, ast.Load)
    ]


def _read(scope: ast.AST, name: str) -> bool:
    """Whether a name is read, other than to make it a tensor of the same name."""
    for each in ast.walk(scope):
        if isinstance(each, ast.Assign) and [dotted(one) for one in each.targets] == [name]:
            continue
        if isinstance(each, ast.stmt) and not hasattr(each, "body"):
            inside = [
                one for one in ast.walk(each) if isinstance(one, ast.Name | ast.Attribute) and dotted(one) == name
            ]
            if any(isinstance(one.ctx, ast.Load) for one in inside):
                return True
        elif isinstance(each, ast.If | ast.While) and any(dotted(one) == name for one in ast.walk(each.test)):
            return True
    return False


def _masked(source: Source, node: ast.BinOp) -> bool:
    for each in computed_from(source, node):
        if isinstance(each, ast.IfExp) or library(source, each).endswith((".where", ".zeros", ".zeros_like")):
            return True
    return False
