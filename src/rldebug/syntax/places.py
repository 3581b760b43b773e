"""Where a node stands: in which function, class, loops and `with` blocks, and what comes before what."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from rldebug.evidence.source import Source
from rldebug.syntax.names import resolved

Function = ast.FunctionDef | ast.AsyncFunctionDef
Scope = Function | ast.Module
_NO_GRAD = ("torch.no_grad", "torch.inference_mode", "torch.autograd.no_grad", "torch.set_grad_enabled")


@lru_cache(maxsize=512)
def parents(source: Source) -> dict[ast.AST, ast.AST]:
    return {child: node for node in ast.walk(source.tree) for child in ast.iter_child_nodes(node)}


def above(source: Source, node: ast.AST) -> Iterator[ast.AST]:
    """Everything that a node stands in, from the innermost out."""
    up = parents(source)
    while node in up:
        node = up[node]
        yield node


def function_of(source: Source, node: ast.AST) -> Function | None:
    """The function that a node stands in; lambdas and comprehensions count as part of it."""
    return next((each for each in above(source, node) if isinstance(each, Function)), None)


def scope_of(source: Source, node: ast.AST) -> Scope:
    return function_of(source, node) or source.tree


def class_of(source: Source, node: ast.AST) -> ast.ClassDef | None:
    return next((each for each in above(source, node) if isinstance(each, ast.ClassDef)), None)


def statement_of(source: Source, node: ast.AST) -> ast.stmt:
    if isinstance(node, ast.stmt):
        return node
    return next(each for each in above(source, node) if isinstance(each, ast.stmt))


def loops_of(source: Source, node: ast.AST) -> list[ast.For | ast.While | ast.AsyncFor]:
    """The loops of the same function that repeat a node, the innermost first; what a `for` goes over is not."""
    found: list[ast.For | ast.While | ast.AsyncFor] = []
    inner = node
    for each in above(source, node):
        if isinstance(each, Function | ast.Lambda | ast.ClassDef):
            break
        if isinstance(each, ast.For | ast.While | ast.AsyncFor):
            goes_over = isinstance(each, ast.For | ast.AsyncFor) and inner in (each.iter, each.target)
            if not goes_over and inner not in each.orelse:
                found.append(each)
        inner = each
    return found


def without_graph(source: Source, node: ast.AST) -> bool:
    """Whether gradients are switched off there: by a `with`, or by a decorator of its function."""
    return graph_switch(source, node) is not None


def graph_switch(source: Source, node: ast.AST) -> ast.expr | None:
    """The `torch.no_grad()` under which a node stands, the innermost one."""
    for each in above(source, node):
        given: list[ast.expr] = []
        if isinstance(each, ast.With | ast.AsyncWith):
            given = [item.context_expr for item in each.items]
        elif isinstance(each, Function):
            given = each.decorator_list
        for one in given:
            if _switches_off(source, one):
                return one
    return None


def _switches_off(source: Source, node: ast.expr) -> bool:
    call = node if isinstance(node, ast.Call) else None
    name = resolved(source, call.func if call else node)
    if name == "torch.set_grad_enabled":
        first = call.args[0] if call and call.args else None
        return not (isinstance(first, ast.Constant) and first.value is True)
    return name in _NO_GRAD


def own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """What stands in a function itself, in the order of the text: not in the functions and classes inside of it."""
    for child in ast.iter_child_nodes(scope):
        yield child
        if not isinstance(child, Function | ast.ClassDef | ast.Lambda):
            yield from own_nodes(child)


def calls_in(scope: ast.AST) -> Iterator[ast.Call]:
    return (each for each in own_nodes(scope) if isinstance(each, ast.Call))


def calls(source: Source) -> Iterator[ast.Call]:
    return (each for each in ast.walk(source.tree) if isinstance(each, ast.Call))


def before(one: ast.AST, other: ast.AST) -> bool:
    """In the order of the text."""
    return _place(one) < _place(other)


def _place(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def branches_apart(source: Source, one: ast.AST, other: ast.AST) -> bool:
    """Whether two nodes stand in different branches of one `if` or `try`: then at most one of them runs."""
    chain = {id(each): each for each in (one, *above(source, one))}
    inner: ast.AST = other
    for each in above(source, other):
        if id(each) in chain and isinstance(each, ast.If | ast.IfExp):
            branches = list(enumerate(_branches(each)))
            mine = next((place for place, branch in branches if any(id(node) in chain for node in branch)), None)
            theirs = next((place for place, branch in branches if inner in branch), None)
            return mine is not None and theirs is not None and mine != theirs
        inner = each
    return False


def _branches(node: ast.If | ast.IfExp) -> list[list[ast.AST]]:
    if isinstance(node, ast.IfExp):
        return [[node.body], [node.orelse]]
    return [list(node.body), list(node.orelse)]
