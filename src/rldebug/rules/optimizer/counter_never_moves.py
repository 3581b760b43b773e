"""A counter decides when something is done, and never moves."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import Binding, attributes, bases, bound_in, first_parameter
from rldebug.syntax.names import constant, dotted, resolved
from rldebug.syntax.places import before, class_of, function_of, loops_of, scope_of


@dataclass(frozen=True, kw_only=True)
class CounterNeverMoves(Rule):
    """A counter decides when something is done, and never moves.

    ## What it checks
    `if steps % n == 0:` in a loop or a method, where `steps` is set to a constant and nothing in the file ever adds to
    it; or where each round of the same loop sets it to the constant again. Read from the source.

    ## Why it matters
    The condition is the same for ever: the target network is synchronised in every update or never, the evaluation
    never comes, gradients are accumulated and never used.

    ## Likely causes
    1. `steps += 1` is missing. Confirm: print the counter.
    2. `steps = 0` stands inside of the loop. Confirm: read the lines above.

    ## What to try first
    Set it before the loop, and add to it in each round.

    ## When it is fine
    Nothing that is known of.

    ## References
    OPT-14 of bench/bugs.
    """

    code: ClassVar[str] = "OPT653"
    name: ClassVar[str] = "counter-never-moves"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"

    def check(self, evidence: Source) -> Iterator[Finding]:
        told: set[str] = set()
        for node in ast.walk(evidence.tree):
            counter = _counter(node)
            if counter is None or not isinstance(node, ast.Compare) or dotted(counter) in told:
                continue
            why = _stuck_attribute(evidence, counter) or _stuck_name(evidence, counter)
            if why:
                told.add(dotted(counter))
                yield self.finding(
                    f"{dotted(counter)} never moves: {why}",
                    where=evidence.at(node),
                    seen=evidence.quoted(node),
                    expected="a counter that grows from round to round",
                    help=f"{dotted(counter)} += 1 in each round, and set to 0 only before the first",
                    confidence=0.92,
                )


def _counter(node: ast.AST) -> ast.expr | None:
    """`steps` of `steps % n == 0`, also of `(steps + 1) % n == 0`."""
    if not isinstance(node, ast.Compare) or len(node.ops) != 1 or not isinstance(node.ops[0], ast.Eq):
        return None
    left = node.left
    if not isinstance(left, ast.BinOp) or not isinstance(left.op, ast.Mod) or constant(node.comparators[0]) is None:
        return None
    counted = left.left
    if isinstance(counted, ast.BinOp) and isinstance(counted.op, ast.Add) and constant(counted.right) is not None:
        counted = counted.left
    return counted if isinstance(counted, ast.Name | ast.Attribute) and dotted(counted) else None


def _only_constants(places: list[Binding]) -> bool:
    """Set as counters are: to 0, or one off it."""
    return bool(places) and all(each.how == "assigned" and constant(each.whole) in (0, 1, -1) for each in places)


def _stuck_name(source: Source, counter: ast.expr) -> str:
    loops = loops_of(source, counter)
    if not isinstance(counter, ast.Name) or not loops or _declared_elsewhere(source, counter.id):
        return ""
    places = bound_in(source, scope_of(source, counter)).get(counter.id, [])
    begins = [each for each in places if each.how == "assigned"]
    added = [each for each in places if each.how == "augmented"]
    if not _only_constants(begins) or len(begins) + len(added) != len(places):
        return ""
    around = set(loops)
    if not added:
        return "nothing adds to it" if not any(around & {*loops_of(source, each.node)} for each in begins) else ""
    again = [each for each in begins if loops_of(source, each.node)[:1] == loops[:1] and each.node in loops[0].body]
    within = all(loops_of(source, each.node) == loops for each in added)
    if len(again) == len(begins) == 1 and len(added) == 1 and within and before(again[0].node, counter):
        return f"it is set to {constant(again[0].whole)} again in each round of the same loop"
    return ""


def _stuck_attribute(source: Source, counter: ast.expr) -> str:
    owner, function = class_of(source, counter), function_of(source, counter)
    if owner is None or function is None or not isinstance(counter, ast.Attribute) or function.name == "__init__":
        return ""
    if dotted(counter.value) != first_parameter(function) or not _whole(source, owner):
        return ""
    places = attributes(source, owner).get(f"self.{counter.attr}", [])
    begun = [function_of(source, each.node) for each in places]
    if not _only_constants(places) or any(each is None or each.name != "__init__" for each in begun):
        return ""
    written = [
        node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Attribute) and node.attr == counter.attr and not isinstance(node.ctx, ast.Load)
    ]
    return "nothing adds to it" if len(written) == len(places) else ""


def _whole(source: Source, owner: ast.ClassDef) -> bool:
    """Whether all that a class inherits stands in this file: others may count for it."""
    family = (owner, *bases(source, owner))
    names = {each.name for each in family}
    plain = ("torch.nn.Module", "gymnasium.Env", "abc.ABC")
    return all(
        dotted(base) in names | {"object"} or resolved(source, base) in plain for each in family for base in each.bases
    )


def _declared_elsewhere(source: Source, name: str) -> bool:
    return any(isinstance(node, ast.Global | ast.Nonlocal) and name in node.names for node in ast.walk(source.tree))
