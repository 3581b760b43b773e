"""What networks are asked: the calls of them that a value is computed from, and what they are given."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rldebug.evidence.source import Source
from rldebug.syntax.bindings import reaching
from rldebug.syntax.flow import computed_from, same
from rldebug.syntax.kinds import kind
from rldebug.syntax.names import dotted, method, receiver
from rldebug.syntax.sums import factors, terms
from rldebug.syntax.transitions import part as part_of_step


def asked(source: Source, expression: ast.expr, *, graph: bool = False) -> list[ast.Call]:
    """The calls of networks that an expression is computed from; with `graph`, those that gradients reach."""
    inside = computed_from(source, expression, graph=graph, until=_comes_from_outside)
    return [each for each in inside if isinstance(each, ast.Call) and network(source, each) is not None]


def _comes_from_outside(node: ast.expr) -> bool:
    """An environment's answer to an action is none of the network that chose it; nor are rows of a memory."""
    # dist.sample() is the network's own answer; memory.sample(32) is not.
    return method(node) in ("step", "reset") or (
        method(node) == "sample" and isinstance(node, ast.Call) and bool(node.args)
    )


def network(source: Source, call: ast.Call) -> ast.expr | None:
    """The network that a call asks."""
    if kind(source, call.func) == "module":
        return call.func
    inner = receiver(call)
    if inner is not None and method(call) == "forward" and kind(source, inner) == "module":
        return inner
    return None


def bootstraps(source: Source, expression: ast.expr) -> Iterator[tuple[ast.BinOp, ast.expr]]:
    """Sums `r + discount * answer` that an expression is computed from: the sum, and the term with the answer."""
    for each in computed_from(source, expression):
        if isinstance(each, ast.BinOp) and isinstance(each.op, ast.Add):
            found = bootstrap(source, each)
            if found is not None:
                yield each, found


def bootstrap(source: Source, node: ast.BinOp) -> ast.expr | None:
    """The term of a sum that is a product with a network's answer, where another term has none."""
    parts = list(terms(node))
    rewards = [part for _, part in parts if "reward" in part_of_step(source, part)]
    with_answer = [(sign, part) for sign, part in parts if part not in rewards and _values(source, part)]
    without = [part for sign, part in parts if sign > 0 and (part in rewards or not _values(source, part))]
    products = [part for sign, part in with_answer if sign > 0 and len(factors(part)[1]) > 1]
    return products[0] if len(products) == 1 and without and not isinstance(without[0], ast.Constant) else None


def _values(source: Source, expression: ast.expr) -> bool:
    """Whether networks are asked, for more than the log of a probability: a reward may be paid for that of the action
    (Munchausen), and it is no value."""
    inside = computed_from(source, expression, until=lambda node: _comes_from_outside(node) or _log_chance(node))
    return any(isinstance(each, ast.Call) and network(source, each) is not None for each in inside)


def _log_chance(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and method(node) in ("log_softmax", "log_prob")


def same_value(source: Source, one: ast.expr, other: ast.expr) -> bool:
    """Whether two expressions are written alike and every name in them stands for the same."""
    if not same(one, other):
        return False
    names = [[node for node in ast.walk(each) if dotted(node)] for each in (one, other)]
    return all(
        [binding.node for binding in reaching(source, a)] == [binding.node for binding in reaching(source, b)]
        for a, b in zip(*names, strict=True)
        if isinstance(a, ast.expr) and isinstance(b, ast.expr)
    )
