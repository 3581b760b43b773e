"""Networks that are asked one after another, and weights that are copied one by one."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import lru_cache

from rldebug.evidence.source import Source
from rldebug.evidence.timing import Network, Timing
from rldebug.evidence.timings.loops import Loop, calls_at, carried, loops_at
from rldebug.syntax.bindings import called, given_for, parameters
from rldebug.syntax.flow import computed_from, elements, held, meant
from rldebug.syntax.names import constant, dotted, library, method, receiver

_WEIGHTS = ("parameters", "named_parameters", "state_dict", "buffers", "named_buffers")
_PRODUCTS = frozenset({"torch.nn.functional.linear", "torch.matmul", "torch.mm", "torch.func.functional_call"})
_WRITES = ("copy_", "mul_", "add_", "lerp_", "sub_", "addcmul_", "set_")
_TENSORS = 200  # of a network that are compared


@lru_cache(maxsize=4096)
def asked_in_turn(source: Source, node: ast.AST) -> Loop | None:
    """The loop in which a call asks one network after another: `[q(x) for q in self.critics]`. Not layers, of which
    each is given what the one before has made."""
    return next((loop for call in calls_at(node) if (loop := _asked_in_turn(source, call)) is not None), None)


def _asked_in_turn(source: Source, node: ast.Call) -> Loop | None:
    network = receiver(node) if method(node) == "forward" else node.func
    given = {dotted(each) for one in (*node.args, *(key.value for key in node.keywords)) for each in ast.walk(one)}
    for loop in loops_at(source, node):
        named = isinstance(network, ast.Name) and network.id in loop.variables
        picked = isinstance(network, ast.Subscript) and any(
            isinstance(each, ast.Name) and each.id in loop.variables for each in ast.walk(network.slice)
        )
        if named or picked:
            return None if given & carried(loop).keys() else loop
    return None


@lru_cache(maxsize=4096)
def multiplied_in_turn(source: Source, node: ast.AST) -> Loop | None:
    """The loop in which one set of weights after another is multiplied with the same input, without a module:
    `[head(theta, x) for theta in thetas]`, `for w in heads: F.linear(x, w)`. Not layers, as above."""
    for loop in loops_at(source, node):
        if _multiplies(source, loop.repeated, loop.variables, frozenset(carried(loop))):
            return loop
        for call in (each for each in loop.nodes() if isinstance(each, ast.Call)):
            function = called(source, call)
            if function is None or any(dotted(each) in carried(loop) for each in call.args):
                continue
            given = {each.arg: given_for(function, each.arg, call) for each in parameters(function)}
            names = frozenset(name for name, each in given.items() if _roots(each) & loop.variables)
            if names and _multiplies(source, function.body, names, frozenset()):
                return loop
    return None


def _multiplies(source: Source, body: Sequence[ast.AST], names: frozenset[str], old: frozenset[str]) -> bool:
    """Whether `x @ w`, or what does the same, has a weight that comes from a name, and an x that is none of the old."""
    nodes = [inner for each in body for inner in ast.walk(each)]
    for each in nodes:  # w, b = theta
        if isinstance(each, ast.Assign) and _roots(each.value) & names and isinstance(each.targets[0], ast.Tuple):
            names |= {one.id for one in ast.walk(each.targets[0]) if isinstance(one, ast.Name)}
    for each in nodes:
        given: tuple[ast.expr, ast.expr] | None = None
        if isinstance(each, ast.BinOp) and isinstance(each.op, ast.MatMult):
            given = each.left, each.right
        elif isinstance(each, ast.Call) and library(source, each) in _PRODUCTS and len(each.args) > 1:
            given = each.args[0], each.args[1]
        if given is not None and _roots(given[1]) & names and not _roots(given[0]) & (names | old):
            return True
    return False


def _roots(node: ast.expr | None) -> frozenset[str]:
    """The names that an expression is about: theta of `theta[0].T`."""
    inner = () if node is None else ast.walk(node)
    return frozenset(each.id for each in inner if isinstance(each, ast.Name))


def networks_in(loop: Loop) -> int | None:
    """How many networks a loop goes over, where the text says so."""
    for over in loop.over:
        inner = over
        while (
            isinstance(inner, ast.Call)
            and dotted(inner.func) in ("enumerate", "zip", "list", "reversed")
            and inner.args
        ):
            inner = inner.args[0]
        if (count := _listed(loop.source, inner)) is not None:
            return count
    return None


def _listed(source: Source, node: ast.expr, depth: int = 6) -> int | None:
    if (count := _range(source, node)) is not None:
        return count
    known = meant(source, node)
    if isinstance(known, ast.Call) and dotted(known.func).endswith("ModuleList") and known.args:
        known = meant(source, known.args[0])
    if isinstance(known, ast.ListComp | ast.GeneratorExp):
        return _range(source, known.generators[0].iter)
    listed = elements(source, known)
    if listed is not None:
        return len(listed)
    behind = (each for each, _ in held(source, known)) if depth > 0 else iter(())
    counts = {count for each in behind if (count := _listed(source, each, depth - 1)) is not None}
    return max(counts, default=None)


def _range(source: Source, node: ast.expr) -> int | None:
    if not isinstance(node, ast.Call) or dotted(node.func) != "range" or len(node.args) != 1:
        return None
    count = constant(meant(source, node.args[0]))
    return count if isinstance(count, int) else None


def equal_networks(timing: Timing) -> int:
    """The most networks with the same shapes; one that consists of equal parts counts as so many."""
    found: dict[tuple[tuple[int, ...], ...], int] = {}
    for each in timing.networks:
        part, times = equal_parts(each)
        found[part] = found.get(part, 0) + times
    return max(found.values(), default=0)


def equal_parts(network: Network) -> tuple[tuple[tuple[int, ...], ...], int]:
    """The shapes of a part, and how many times they follow one another: those that most tensors belong to. An agent may
    be one module, with its critics and an actor in it."""
    shapes = network.shapes[:_TENSORS]
    best, times = network.shapes, 1
    for first in range(len(shapes)):
        for size in range(1, (len(shapes) - first) // 2 + 1):
            part, count = shapes[first : first + size], 1
            while shapes[first + count * size : first + (count + 1) * size] == part:
                count += 1
            # The smallest part: ten critics, not five pairs of them.
            if count > 1 and _stands_alone(part) and count * size > (times * len(best) if times > 1 else 0):
                best, times = part, count
    return best, times


def _stands_alone(part: tuple[tuple[int, ...], ...]) -> bool:
    """Layers whose output fits their own input are layers of one network, one after the other."""
    matrices = [each for each in part if len(each) > 1]
    return bool(matrices) and matrices[0][1] != matrices[-1][0]


@lru_cache(maxsize=4096)
def copied_in_turn(source: Source, node: ast.AST) -> Loop | None:
    """The loop through the weights of two networks that writes to one: `for p, q in zip(a.parameters(), …)`."""
    for loop in loops_at(source, node):
        weights = [each for over in loop.over for each in _networks_of(source, over)]
        told = len(weights) >= 2 or any(method(each) == "state_dict" for each in weights)
        if told and any(_writes(each) for each in loop.nodes()):
            return loop
    return None


def _networks_of(source: Source, over: ast.expr) -> Iterator[ast.expr]:
    given = over.args if isinstance(over, ast.Call) and dotted(over.func) == "zip" else [over]
    for each in given:
        found = (one for one in computed_from(source, each) if method(one) in _WEIGHTS)
        if (weights := next(found, None)) is not None:
            yield weights


def _writes(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return method(node) in _WRITES
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
    return any(
        isinstance(each, ast.Subscript) or (isinstance(each, ast.Attribute) and each.attr == "data") for each in targets
    )


def by_lerp(loop: Loop) -> bool:
    return any(method(each) == "lerp_" for each in loop.nodes())
