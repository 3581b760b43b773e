"""Draws in proportion to priorities: by going through all of them, or down a tree, in Python."""

from __future__ import annotations

import ast
from functools import lru_cache

from rldebug.evidence.source import Source
from rldebug.evidence.timings.loops import Loop, Statement, calls_at, loops_at
from rldebug.syntax.bindings import calls_of
from rldebug.syntax.flow import computed_from
from rldebug.syntax.names import argument, constant, dotted, library, method
from rldebug.syntax.places import calls, function_of, statement_of

_SEARCHES = frozenset({"numpy.searchsorted", "torch.searchsorted", "bisect.bisect", "bisect.bisect_left"})
_SORTS = frozenset({"sorted", "numpy.argsort", "numpy.sort", "torch.sort", "torch.argsort"})


@lru_cache(maxsize=256)
def weighed(source: Source) -> frozenset[ast.AST]:
    """Draws of many in proportion to weights, and all in the same function that the weights are computed from. Not of
    actions, in proportion to what a policy says."""
    found: set[ast.AST] = set()
    for call in calls(source):
        weights = _weights(source, call)
        behind = [] if weights is None else computed_from(source, weights)
        if weights is not None and not any(_of_a_policy(source, each) for each in behind):
            around = function_of(source, call)
            found |= {call, *(each for each in behind if function_of(source, each) is around)}
    return frozenset(found)


def _of_a_policy(source: Source, node: ast.AST) -> bool:
    name = library(source, node).rpartition(".")[2] or method(node)
    return name in ("softmax", "log_softmax", "exp", "sigmoid") or (
        isinstance(node, ast.Attribute) and node.attr == "probs"
    )


def _weights(source: Source, call: ast.Call) -> ast.expr | None:
    name = library(source, call)
    drawn = argument(call, 0 if not name and method(call) == "multinomial" else 1, "size", "num_samples")
    if constant(drawn) == 1:
        return None
    if name == "torch.multinomial":
        return argument(call, 0, "input")
    if name in _SEARCHES:
        return argument(call, 0, "a", "sorted_sequence")
    if name == "random.choices":
        return argument(call, 1, "weights", "cum_weights")
    if name == "numpy.random.choice" or (not name and method(call) == "choice"):
        return argument(call, 3, "p") if argument(call, 1, "size") is not None else None
    if not name and method(call) == "multinomial":
        return call.func.value if isinstance(call.func, ast.Attribute) else None
    return None


def scans(source: Source, node: ast.AST) -> bool:
    """Whether a place is a draw from all priorities, or what such a draw is computed from: their powers, their sum."""
    known = weighed(source)
    if node in known or any(each in known for each in _worked_out(node)):
        return True
    return any(_runs_until(loop) for loop in loops_at(source, node))


def sorts(source: Source, node: ast.AST) -> bool:
    """Whether a place puts rows in the order of something; not of numbers drawn for it, which is how some shuffle."""
    return any(
        (library(source, each) or dotted(each.func)) in _SORTS
        and not any("rand" in library(source, inner) for inner in ast.walk(each))
        for each in calls_at(node)
    )


def _worked_out(node: ast.AST) -> list[ast.AST]:
    """The right-hand side, where Python knows no more than the statement."""
    value = node.value if isinstance(node, ast.Assign | ast.AugAssign | ast.Return) else None
    return [] if value is None else list(ast.walk(value))


def _runs_until(loop: Loop) -> bool:
    """Adds up until a sum is reached: `total += p`, `if total > drawn: break`."""
    sums = {
        dotted(each.target) for each in loop.nodes() if isinstance(each, ast.AugAssign) and isinstance(each.op, ast.Add)
    } - {""}
    return any(
        isinstance(each, ast.If)
        and any(isinstance(one, ast.Break | ast.Return) for one in each.body)
        and isinstance(each.test, ast.Compare)
        and any(dotted(one) in sums for one in ast.walk(each.test))
        for each in loop.nodes()
    )


def walks_tree(source: Source, node: ast.AST) -> bool:
    """Whether a place stands in a function that calls itself on a child or parent of its place, or in a loop that goes
    from a place to its child or parent: `i = 2 * i + 1`, `i = (i - 1) // 2`."""
    function = function_of(source, node)
    if function is not None:
        own = [each for each in calls_of(source, function) if function_of(source, each) is function]
        if own and any(_child_or_parent(each) for each in ast.walk(function)):
            return True
    around = loops_at(source, statement_of(source, node))
    return any(isinstance(loop.node, Statement) and _steps_in_tree(loop) for loop in around)


def _steps_in_tree(loop: Loop) -> bool:
    """A place that is computed from itself by doubling or halving, maybe by way of `left = 2 * i + 1; i = left`."""
    given: dict[str, set[str]] = {}
    doubled: set[str] = set()
    for each in loop.nodes():
        if isinstance(each, ast.AugAssign) and isinstance(each.op, ast.FloorDiv | ast.RShift | ast.LShift):
            return True
        if isinstance(each, ast.Assign):
            read = {dotted(one) for one in ast.walk(each.value)} - {""}
            for name in {dotted(target) for target in each.targets} - {""}:
                given[name] = given.get(name, set()) | read
                if any(_child_or_parent(one) for one in ast.walk(each.value)):
                    doubled.add(name)
    return any(given[name] & _from(given, name) or name in _from(given, name) for name in doubled)


def _from(given: dict[str, set[str]], name: str) -> set[str]:
    """The names that are computed, in the same loop, from a name."""
    found: set[str] = set()
    ahead = [name]
    while ahead:
        one = ahead.pop()
        for target, read in given.items():
            if one in read and target not in found:
                found.add(target)
                ahead.append(target)
    return found


def _child_or_parent(node: ast.AST) -> bool:
    if not isinstance(node, ast.BinOp):
        return False
    two = any(isinstance(each, ast.Constant) and each.value in (1, 2) for each in (node.left, node.right))
    doubles = isinstance(node.op, ast.Mult) and any(
        isinstance(each, ast.Constant) and each.value == 2 for each in (node.left, node.right)
    )
    return two and (doubles or isinstance(node.op, ast.FloorDiv | ast.RShift | ast.LShift))
