"""The statements that cut returns off where episodes end, and bring rows and states through to the loss."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from rldebug.evidence.source import Source
from rldebug.finding import Finding
from rldebug.forensics import aimed_learning
from rldebug.forensics.program_text import Text, last, statements
from rldebug.syntax.across import Value, run_by
from rldebug.syntax.bindings import reaching
from rldebug.syntax.flow import within
from rldebug.syntax.kinds import kind
from rldebug.syntax.names import dotted, method, receiver
from rldebug.syntax.places import Function, loops_of, parents
from rldebug.syntax.quantities import Walk, is_network, is_put, operands, recursions, stepped, walk

_ORDERS = frozenset(
    {"reshape", "view", "flatten", "ravel", "transpose", "permute", "swapaxes", "moveaxis", "t", "stack", "rearrange"}
)
_TERMINATED, _TRUNCATED = 2, 3  # places in what step() returns


def cut(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """Where a sum that is carried from step to step is cut off at ends: the formula where it is not; what was stored of
    ends where it is."""
    walked, found = aimed_learning.returned(text, finding)
    scopes = {walked.scope(each) for each in found}
    sums = [each for each in recursions(walked) if walked.scope(each) in scopes]
    masks = [_masks(walked, side) for each, side in _carried(walked).items() if each in sums]
    if not all(masks):
        return statements(walked, sums)
    return flags(text, [one for each in masks for one in each]) or aimed_learning.formula(text, finding)


def _carried(walked: Walk) -> dict[ast.expr, ast.expr]:
    """Of sums that are carried on, the share of the one before."""
    found: dict[ast.expr, ast.expr] = {}
    for node in recursions(walked):
        if isinstance(node, ast.BinOp):
            for side in (node.left, node.right):
                if walked.leads_to(Value(side), Value(node)):
                    found[node] = side
    return found


def trace(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """Where each sum has a share of the one before it; else where rewards become returns."""
    walked, found = aimed_learning.returned(text, finding)
    scopes = {walked.scope(each) for each in found}
    sums = [each for each in recursions(walked) if walked.scope(each) in scopes]
    return statements(walked, sums) or aimed_learning.formula(text, finding)


def flags(text: Text, nodes: Sequence[ast.expr]) -> Sequence[ast.AST]:
    """Where the ends are stored that expressions read, if that is one statement beside a step of the environment."""
    walked = text.learned
    played = {walked.scope(each) for each in stepped(walked)}
    found: dict[ast.stmt, None] = {}
    seen: set[Value] = set()
    ahead = [Value(part) for each in nodes for part in ast.walk(each) if isinstance(part, ast.expr)]
    while ahead:
        each = ahead.pop()
        if each in seen or "end" not in walked.labels.get(each, ()) or "reward" in walked.labels.get(each, ()):
            continue
        seen.add(each)
        if walked.scope(each.node) in played and is_put(walked, each.node):
            found[walked.statement(each.node)] = None
        else:
            ahead.extend(walked.made_of.get(each, ()))
    return list(found) if len(found) == 1 else []


def ends(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """Where what lies beyond an end is left out: the formula that lacks it, the branch that asks for the wrong flag, or
    the flag that is stored."""
    walked, found = aimed_learning.returned(text, finding)
    whole = aimed_learning.with_recursions(walked, found)
    parts = {each: _masks(walked, each) for each in whole}
    without = [each for each, masks in parts.items() if not masks]
    if not without:
        return flags(text, [one for masks in parts.values() for one in masks]) or aimed_learning.ends(text, finding)
    return list(_guards(text, without)) or list(_gathered(text, walked, without)) or statements(walked, without)


def _masks(walked: Walk, node: ast.expr) -> list[ast.expr]:
    """What of a sum is computed of ends, and of no rewards; also in statements before it."""
    before = [each for each in operands(walked, node, "end") if aimed_learning.is_mask(walked, each)]
    parts = [part for each in [node, *before] for part in ast.walk(each) if isinstance(part, ast.expr)]
    return [each for each in parts if "end" in walked.of(each) and "reward" not in walked.of(each)]


def _guards(text: Text, sums: Sequence[ast.expr]) -> Iterator[ast.stmt]:
    """Branches in which a network is asked for what follows where an episode has ended for good."""
    walked = walk(text.program, sums, networks=False)
    for each in walked.made_of:
        if is_network(text.program, each.node):
            source = text.program.home[each.node]
            inner: ast.AST = each.node
            while (around := parents(source).get(inner)) is not None and not isinstance(around, Function):
                if isinstance(around, ast.If) and _is_asked_at_ends(text, around, inner):
                    yield around
                inner = around


def _is_asked_at_ends(text: Text, branch: ast.If, inner: ast.AST) -> bool:
    """`if terminated:`, or `if not truncated:`, by what step() returned; nothing is said of longer tests."""
    test, holds = branch.test, inner in branch.body
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, holds = test.operand, not holds
    if inner is branch.test or not isinstance(test, ast.Name | ast.Attribute | ast.Subscript):
        return False
    told = walk(text.program, [test], networks=False).made_of
    places = {each.path[0][0] for each in told if each.node in text.program.steps and each.path}
    return places == {_TERMINATED if holds else _TRUNCATED}


def _gathered(text: Text, walked: Walk, sums: Sequence[ast.expr]) -> Iterator[ast.stmt]:
    """Calls, once for each episode, of a function that sums rewards, with a list that keeps those of other episodes."""
    scope = walked.scope(sums[0])
    for call in text.program.calls.get(scope.name, ()) if isinstance(scope, Function) else ():
        source = text.program.home[call]
        loops = loops_of(source, call)
        for name in (each for each in call.args if isinstance(each, ast.Name) and "reward" in walked.of(each)):
            bound = reaching(source, name)
            made = [each for each in bound if isinstance(each.whole, ast.List | ast.Call)]
            more = [each for each in bound if each.how == "augmented"]
            more += [each for each in made if isinstance(each.node, ast.AugAssign)]
            grown = more or _is_extended(source, loops[0] if loops else None, name.id)
            outside = made and loops and not any(within(loops[0], each.node) for each in made)
            if grown and outside:
                yield walked.statement(call)


def _is_extended(source: Source, loop: ast.AST | None, name: str) -> bool:
    inside = (each for each in ast.walk(loop) if isinstance(each, ast.Call)) if loop is not None else ()
    grown = (receiver(each) for each in inside if method(each) == "extend")
    return any(isinstance(each, ast.Name) and each.id == name for each in grown)


def window(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """Where rewards of several steps are kept until they are summed: the branch at an end, or else the statement that
    keeps them."""
    walked = text.learned
    kept: dict[ast.stmt, None] = {}
    for each in walked.made_of:
        if "reward" in walked.labels.get(each, ()) and _is_appended(walked, each.node):
            kept[walked.statement(each.node)] = None
    last_kept = next(reversed(kept), None)  # of rewards as they came, before they are summed
    scope = walked.scope(last_kept) if last_kept is not None else None
    if not isinstance(scope, Function):
        return []
    asked = [each for each in ast.walk(scope) if isinstance(each, ast.If)]
    told = [each for each in asked if _asks_for_ends(text, each.test)]
    return told if len(told) == 1 else [each for each in kept if walked.scope(each) is scope]


def _is_appended(walked: Walk, node: ast.expr) -> bool:
    own = walked.statement(node)
    return isinstance(own, ast.Expr) and method(own.value) in ("append", "appendleft", "extend")


def _asks_for_ends(text: Text, test: ast.expr) -> bool:
    walked = walk(text.program, [test], networks=False)
    return "end" in walked.of(test)


def ordered(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """Where targets are brought into the order in which they are learned: the nearest function that does so."""
    walked = text.near(finding)
    moved = [each.node for each in walked.made_of if last(each.node) in _ORDERS and "reward" in walked.of(each.node)]
    found = [each for each in moved if isinstance(each, ast.Call) and not run_by(text.program, each)]
    return statements(walked, [each for each in found if walked.scope(each) is walked.scope(found[0])])


def memory(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """Where the state of a network goes from step to step of a sequence that is learned from."""
    played = {text.learned.scope(each) for each in text.program.steps}
    found = []
    for source in text.sources:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and loops_of(source, node):
                names = {dotted(part) for target in node.targets for part in ast.walk(target)} - {""}
                given = {dotted(part) for each in node.value.args for part in ast.walk(each)}
                asked = is_network(text.program, node.value) or kind(source, node.value.func) == "module"
                if names & given and asked and text.learned.scope(node) not in played:
                    found.append(node)
    return found if len(found) == 1 else []
