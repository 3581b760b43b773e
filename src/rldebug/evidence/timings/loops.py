"""The loops that a place in the text stands in, and what goes from one round of a loop to the next."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from rldebug.evidence.source import Source
from rldebug.evidence.timing import Slice, Spot, Timing
from rldebug.evidence.timings.libraries import told
from rldebug.syntax.names import constant, dotted, library, method
from rldebug.syntax.places import Function, above

Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
Statement = ast.For | ast.AsyncFor | ast.While
_TRAINING = frozenset({"simulator", "wrappers", "reset", "backward", "optimizer", "evaluation"})
_SUMS = frozenset({"sum", "numpy.sum", "numpy.dot", "torch.sum", "torch.dot", "math.fsum"})


@dataclass(frozen=True)
class Loop:
    """A loop or a comprehension of the user's."""

    source: Source
    node: Statement | Comprehension

    @property
    def over(self) -> list[ast.expr]:
        """What it goes over; nothing for `while`."""
        if isinstance(self.node, ast.While):
            return []
        if isinstance(self.node, ast.For | ast.AsyncFor):
            return [self.node.iter]
        return [each.iter for each in self.node.generators]

    @property
    def variables(self) -> frozenset[str]:
        if isinstance(self.node, ast.While):
            return frozenset()
        if isinstance(self.node, ast.For | ast.AsyncFor):
            targets = [self.node.target]
        else:
            targets = [each.target for each in self.node.generators]
        return frozenset(each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name))

    @property
    def repeated(self) -> list[ast.AST]:
        """What is done in each round."""
        if isinstance(self.node, ast.While):
            return [self.node.test, *self.node.body]
        if isinstance(self.node, ast.For | ast.AsyncFor):
            return list(self.node.body)
        inner: list[ast.AST] = [test for each in self.node.generators for test in each.ifs]
        inner += [each.iter for each in self.node.generators[1:]]
        return [*inner, *([self.node.key, self.node.value] if isinstance(self.node, ast.DictComp) else [self.node.elt])]

    def nodes(self) -> Iterator[ast.AST]:
        return (inner for each in self.repeated for inner in ast.walk(each))

    @property
    def backwards(self) -> bool:
        """Whether it goes from the end to the beginning."""
        return any(_backwards(each) for over in self.over for each in ast.walk(over))


def places(timing: Timing, piece: Slice) -> Iterator[tuple[Source, ast.AST]]:
    """The user's own places in a stack, the innermost first."""
    for spot in reversed(piece.stack):
        if spot.kind == "user" and (source := timing.source(spot.file)) is not None:
            node = node_of(source, spot)
            if node is not None:
                yield source, node


def loops(timing: Timing, piece: Slice) -> Iterator[Loop]:
    """The user's loops that are under way, the innermost first."""
    for source, node in places(timing, piece):
        yield from loops_at(source, node)


def in_network(piece: Slice) -> bool:
    """Whether a network is being called."""
    return any(told(each) == "module" for each in piece.stack)


def down_to_network(piece: Slice) -> Slice:
    """Without the text of the network itself: down to the line that calls it."""
    inside = next((place for place, each in enumerate(piece.stack) if told(each) == "module"), len(piece.stack))
    return replace(piece, stack=piece.stack[:inside])


def passes(timing: Timing, piece: Slice, loop: Loop) -> bool:
    return any(each.node is loop.node for each in loops(timing, piece))


def trains(timing: Timing, loop: Loop) -> bool:
    """Whether environments are stepped or networks learn in the rounds of a loop."""
    called = (each for each in loop.nodes() if isinstance(each, ast.Call))
    return any(method(each) in ("step", "backward") for each in called) or any(
        each.part in _TRAINING and passes(timing, each, loop) for each in timing.slices
    )


def calls_at(node: ast.AST) -> list[ast.Call]:
    """The call that is under way; where Python knows no more than the statement, all that stand in it."""
    inner = ast.walk(node) if isinstance(node, ast.stmt) and not hasattr(node, "body") else (node,)
    return [each for each in inner if isinstance(each, ast.Call)]


@lru_cache(maxsize=1 << 14)
def node_of(source: Source, spot: Spot) -> ast.AST | None:
    from rldebug.evidence.timings.nodes import node_at

    return node_at(source, spot)


@lru_cache(maxsize=1 << 14)
def loops_at(source: Source, node: ast.AST) -> tuple[Loop, ...]:
    """The loops of the same function that repeat a node, the innermost first. What a loop goes over counts as part of
    it where it is the place itself: Python fetches the next item there."""
    found: list[Loop] = []
    for each in (node, *above(source, node)):
        if isinstance(each, Function | ast.Lambda | ast.ClassDef):
            break
        if isinstance(each, Statement | Comprehension):
            loop = Loop(source, each)
            inside = each is node or any(node is inner for inner in loop.nodes())
            if inside or (isinstance(each, Statement) and node in loop.over):
                found.append(loop)
    return tuple(found)


def _backwards(node: ast.AST) -> bool:
    if isinstance(node, ast.Call) and dotted(node.func) == "reversed":
        return True
    if isinstance(node, ast.Call) and dotted(node.func) == "range" and len(node.args) == 3:
        return _negative(node.args[2])
    return isinstance(node, ast.Slice) and _negative(node.step)


def _negative(node: ast.AST | None) -> bool:
    value = constant(node)
    return isinstance(value, int) and value < 0


# ── from one round to the next ──────────────────────────────────────────────────────────────────────────────────────


def carried(loop: Loop) -> dict[str, bool]:
    """What the next round gets from this one: a name, or an array whose places depend on each other; and whether it is
    multiplied on the way, as a discounted sum is. Counters are left out."""
    if not isinstance(loop.node, Statement):
        return {}
    assigned = _assigned(loop)
    found: dict[str, bool] = {}
    for name, given in assigned.items():
        if name in loop.variables or _made_anew(loop, name, assigned):
            continue
        for target, value, statement in given:
            step = _step(statement, name)
            read = [times for leaf, times in _leaves(value, assigned, {name}) if _is_old(leaf, target, name)]
            if isinstance(statement, ast.AugAssign):
                read.append(isinstance(statement.op, ast.Mult))
            if read and not step:
                found[name] = found.get(name, False) or any(read)
    return found


Given = tuple[ast.expr, ast.expr, ast.stmt]


def _assigned(loop: Loop) -> dict[str, list[Given]]:
    found: dict[str, list[Given]] = {}
    for node in loop.nodes():
        if isinstance(node, ast.Assign):
            pairs = [pair for target in node.targets for pair in _pairs(target, node.value)]
        elif isinstance(node, ast.AugAssign) or (isinstance(node, ast.AnnAssign) and node.value is not None):
            pairs = [(node.target, node.value)] if node.value is not None else []
        else:
            continue
        for target, value in pairs:
            if name := dotted(target.value if isinstance(target, ast.Subscript) else target):
                found.setdefault(name, []).append((target, value, node))
    return found


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    if isinstance(target, ast.Tuple | ast.List):
        given = value.elts if isinstance(value, ast.Tuple | ast.List) else [value] * len(target.elts)
        return list(zip(target.elts, given, strict=False))
    return [(target, value)]


def _step(statement: ast.stmt, name: str) -> bool:
    """`i += 1`, and `i = i - 1`."""
    if isinstance(statement, ast.AugAssign):
        return isinstance(statement.op, ast.Add | ast.Sub) and constant(statement.value) is not None
    value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Add | ast.Sub) or dotted(value.left) != name:
        return False
    return constant(value.right) is not None


def _leaves(
    value: ast.expr, assigned: dict[str, list[Given]], seen: set[str], times: bool = False
) -> Iterator[tuple[ast.expr, bool]]:
    """The names and places of arrays that a value is computed from, in this loop; whether a product lies between."""
    if name := dotted(value.value if isinstance(value, ast.Subscript) else value):
        yield value, times
        if isinstance(value, ast.Subscript):
            yield from _leaves(value.slice, assigned, seen, times)
        if name in assigned and name not in seen:
            for _, inner, _statement in assigned[name]:
                yield from _leaves(inner, assigned, {*seen, name}, times)
        return
    times = times or (isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult))
    for child in ast.iter_child_nodes(value):
        given = child.value if isinstance(child, ast.keyword) else child
        if isinstance(given, ast.expr):
            yield from _leaves(given, assigned, seen, times)


def _is_old(leaf: ast.expr, target: ast.expr, name: str) -> bool:
    if isinstance(target, ast.Subscript):
        known = isinstance(leaf, ast.Subscript) and dotted(leaf.value) == name
        return known and isinstance(leaf, ast.Subscript) and ast.dump(leaf.slice) != ast.dump(target.slice)
    return dotted(leaf) == name


def _made_anew(loop: Loop, name: str, assigned: dict[str, list[Given]]) -> bool:
    """Whether each round begins with a value of its own: bound, whatever happens, before it is read."""
    own = [each for each in assigned[name] if each[2] in loop.repeated and not isinstance(each[0], ast.Subscript)]
    if not own or isinstance(own[0][2], ast.AugAssign):
        return False
    statement = own[0][2]
    return not any(
        isinstance(each, ast.Name | ast.Attribute)
        and isinstance(each.ctx, ast.Load)
        and dotted(each) == name
        and each.lineno <= (statement.end_lineno or statement.lineno)
        for each in loop.nodes()
    )


def sums_what_follows(loop: Loop) -> bool:
    """Whether each round adds up a stretch that begins or ends with its own place: `sum(rewards[t:])`."""
    return any(_stretch(each, loop.variables) for each in _summed(loop))


def _summed(loop: Loop) -> Iterator[ast.AST]:
    for node in loop.nodes():
        if isinstance(node, ast.Call):
            name = library(loop.source, node) or dotted(node.func)
            if name in _SUMS or method(node) in ("sum", "dot"):
                yield node
        elif isinstance(node, Statement) and _assigned(Loop(loop.source, node)):
            inner = Loop(loop.source, node)
            if carried(inner):
                yield from inner.over


def _stretch(node: ast.AST, variables: frozenset[str]) -> bool:
    for each in ast.walk(node):
        bounds: list[ast.expr | None] = []
        if isinstance(each, ast.Slice):
            bounds = [each.lower, each.upper]
        elif isinstance(each, ast.Call) and dotted(each.func) == "range":
            bounds = list(each.args)
        inner = (name for bound in bounds if bound is not None for name in ast.walk(bound))
        if any(isinstance(name, ast.Name) and name.id in variables for name in inner):
            return True
    return False
