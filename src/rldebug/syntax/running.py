"""Loops that carry a sum along: returns and advantages, from the last step to the first or the other way."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from rldebug.evidence.source import Source
from rldebug.syntax.flow import computed_from, meant, put_in
from rldebug.syntax.names import constant, dotted, library, method, receiver
from rldebug.syntax.places import before, own_nodes, scope_of
from rldebug.syntax.stepping import roles
from rldebug.syntax.sums import factors, terms

Direction = Literal["forwards", "backwards", ""]
_LOOPS = ast.For | ast.While | ast.AsyncFor


@dataclass(frozen=True)
class Running:
    """`R = r + gamma * R` in a loop, and where R is kept in each round."""

    loop: ast.For
    name: str
    step: ast.stmt
    added: tuple[ast.expr, ...]  # terms without the sum itself
    discount: tuple[ast.expr, ...]  # factors of the sum itself
    kept: tuple[tuple[ast.stmt, str], ...]  # statement and how: append, insert, appendleft, place, beside
    direction: Direction


@lru_cache(maxsize=512)
def running_sums(source: Source) -> tuple[Running, ...]:
    found = []
    for loop in ast.walk(source.tree):
        if isinstance(loop, ast.For):
            for step in _own_statements(loop):
                told = _carried(step, loop)
                if told is not None:
                    name, added, discount = told
                    kept = tuple(_kept(loop, step, name)) or tuple(_beside(source, loop, step, name, added))
                    if kept and any(_of_loop(source, loop, each) for each in added):
                        found.append(Running(loop, name, step, added, discount, kept, direction(source, loop)))
    return tuple(found)


def _own_statements(loop: ast.For) -> Iterator[ast.stmt]:
    """The statements of a loop's body, also in branches of it; not those of loops inside."""
    ahead: list[ast.stmt] = list(loop.body)
    while ahead:
        each = ahead.pop(0)
        yield each
        if isinstance(each, ast.If):
            ahead = [*each.body, *each.orelse, *ahead]
        elif isinstance(each, ast.With):
            ahead = [*each.body, *ahead]


def _carried(step: ast.stmt, loop: ast.For) -> tuple[str, tuple[ast.expr, ...], tuple[ast.expr, ...]] | None:
    if isinstance(step, ast.AugAssign) and isinstance(step.op, ast.Add) and isinstance(step.target, ast.Name):
        # `R *= gamma` on the line before makes it a discounted sum.
        scaled = [
            each.value
            for each in loop.body
            if isinstance(each, ast.AugAssign)
            and isinstance(each.op, ast.Mult)
            and dotted(each.target) == step.target.id
            and before(each, step)
        ]
        return step.target.id, (step.value,), tuple(scaled)
    if not isinstance(step, ast.Assign):
        return None
    for target in step.targets:  # also of `x[t] = R = …`
        told = _of_sum(step.value, target.id) if isinstance(target, ast.Name) else None
        if told is not None and isinstance(target, ast.Name):
            return target.id, *told
    return None


def _of_sum(value: ast.expr, name: str) -> tuple[tuple[ast.expr, ...], tuple[ast.expr, ...]] | None:
    """What is added and what the sum itself is multiplied by; also in `r + g * (x + l * R)`."""
    mine = [(sign, part) for sign, part in terms(value) if _names(part, name)]
    others = tuple(part for _, part in terms(value) if not _names(part, name))
    if len(mine) != 1 or not others or mine[0][0] < 0:
        return None
    sign, parts = factors(mine[0][1])
    inner = [each for each in parts if _names(each, name)]
    rest = tuple(each for each in parts if each not in inner)
    if len(inner) != 1 or sign < 0:
        return None
    if dotted(inner[0]) == name:
        return others, rest
    deeper = _of_sum(inner[0], name)
    return None if deeper is None or inner[0] is value else (others + deeper[0], rest + deeper[1])


def _names(node: ast.AST, name: str) -> bool:
    return any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(node))


def _kept(loop: ast.For, step: ast.stmt, name: str) -> Iterator[tuple[ast.stmt, str]]:
    for each in _own_statements(loop):
        if isinstance(each, ast.Expr) and isinstance(each.value, ast.Call) and each.value.args:
            call, last = each.value, each.value.args[-1]
            if method(call) in ("append", "appendleft") and _names(last, name):
                yield each, method(call)
            elif method(call) == "insert" and constant(call.args[0]) == 0 and _names(last, name):
                yield each, "insert"
        elif isinstance(each, ast.Assign):
            places = [one for one in each.targets if isinstance(one, ast.Subscript)]
            if any(_indexed(loop, one) for one in places) and _names(each.value, name):
                yield each, "place"


def _beside(
    source: Source, loop: ast.For, step: ast.stmt, name: str, added: tuple[ast.expr, ...]
) -> Iterator[tuple[ast.stmt, str]]:
    """Rewards that are summed and used at once, beside what else belongs to the step: `R - values[i]`."""
    read = [one for each in added for one in ast.walk(each) if isinstance(one, ast.Subscript) and _indexed(loop, one)]
    filled = [value for one in read for value in put_in(source, one.value)]
    if not any("reward" in roles(source, each) for value in filled for each in computed_from(source, value)):
        return
    for each in _own_statements(loop):
        if each is not step and isinstance(each, ast.Assign | ast.AugAssign) and before(step, each):
            for node in ast.walk(each.value):
                if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub | ast.Mult):
                    sides = (node.left, node.right), (node.right, node.left)
                    if any(dotted(one) == name and _reads_place(loop, other) for one, other in sides):
                        yield each, "beside"


def _indexed(loop: ast.For, node: ast.Subscript) -> bool:
    indices = {one.id for one in ast.walk(loop.target) if isinstance(one, ast.Name)}
    return any(isinstance(one, ast.Name) and one.id in indices for one in ast.walk(node.slice))


def _reads_place(loop: ast.For, node: ast.expr) -> bool:
    return isinstance(node, ast.Subscript) and _indexed(loop, node)


def container(statement: ast.stmt) -> ast.expr | None:
    """The list or array that a statement puts something into."""
    if isinstance(statement, ast.Expr):
        return receiver(statement.value)
    if isinstance(statement, ast.Assign):
        return next((each.value for each in statement.targets if isinstance(each, ast.Subscript)), None)
    return None


def _of_loop(source: Source, loop: ast.For, node: ast.expr) -> bool:
    names = {each.id for each in ast.walk(loop.target) if isinstance(each, ast.Name)}
    inside = [node, *computed_from(source, node)]
    return any(isinstance(one, ast.Name) and one.id in names for each in inside for one in ast.walk(each))


def direction(source: Source, loop: ast.For) -> Direction:
    """Which way a loop goes over the steps; empty where it cannot be told."""
    if reverses(source, loop.iter) or any(reverses(source, each) for each in ast.walk(loop.iter)):
        return "backwards"
    target = {each.id for each in ast.walk(loop.target) if isinstance(each, ast.Name)}
    for each in own_nodes(loop):
        # `n - 1 - i`, `x[-i]`, `x[~i]`: the index is turned round in the body
        if isinstance(each, ast.BinOp) and isinstance(each.op, ast.Sub) and dotted(each.right) in target:
            return ""
        if isinstance(each, ast.UnaryOp) and isinstance(each.op, ast.USub | ast.Invert) and _any(each.operand, target):
            return ""
    node = loop.iter
    if isinstance(node, ast.Call) and dotted(node.func) in ("enumerate", "zip", "range", "list", "tuple", "tqdm"):
        over = node.args
    elif method(node) == "unbind" and (inner := receiver(node)) is not None:
        over = [inner]
    else:
        over = [node]
    plain = [each for each in over if isinstance(each, ast.Name | ast.Attribute | ast.Call | ast.Constant | ast.BinOp)]
    if len(plain) != len(over) or any(_turned(source, each) for each in plain):
        return ""
    return "forwards"


def _any(node: ast.AST, names: set[str]) -> bool:
    return any(isinstance(each, ast.Name) and each.id in names for each in ast.walk(node))


def reverses(source: Source, node: ast.AST) -> bool:
    """Whether an expression itself turns a sequence round."""
    if isinstance(node, ast.Subscript):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return any(isinstance(each, ast.Slice) and constant(each.step) == -1 for each in parts)
    if not isinstance(node, ast.Call):
        return False
    if dotted(node.func) in ("reversed", "sorted") or method(node) in ("reverse", "flip", "flipud", "sort"):
        return True
    if dotted(node.func) == "range":
        step = constant(node.args[2]) if len(node.args) == 3 else 1
        return not isinstance(step, int) or step < 0
    return library(source, node).rpartition(".")[2] in ("flip", "flipud", "fliplr")


def _turned(source: Source, node: ast.expr) -> bool:
    """Whether the text turns a sequence round somewhere, so that its order is not known."""
    names = {dotted(each) for each in ast.walk(node) if dotted(each)}
    for each in ast.walk(scope_of(source, node)):
        if reverses(source, each) and names & {dotted(one) for one in ast.walk(each) if dotted(one)}:
            return True
    return any(reverses(source, each) for each in computed_from(source, meant(source, node)))
