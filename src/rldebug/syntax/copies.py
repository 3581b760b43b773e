"""Weights that go from one network into another: load_state_dict(), and loops over the parameters of both."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from rldebug.evidence.source import Source
from rldebug.syntax.bindings import calls_of, given_for, reaching
from rldebug.syntax.flow import held, meant, same
from rldebug.syntax.names import argument, dotted, library, method, receiver
from rldebug.syntax.numbers import evaluated, number
from rldebug.syntax.places import calls, calls_in, function_of, scope_of, statement_of

_LISTS = ("parameters", "named_parameters", "state_dict", "buffers", "values", "items", "keys")
_TRIED = ((1.0, 0.37), (1.0, 0.11), (2.0, 0.37))  # weights, and rates where the text gives none
_WRAPS = ("data", "detach", "clone", "to", "cpu", "float")


@dataclass(frozen=True)
class Copy:
    """`into` gets the weights of `origin`: all of them, or mixed with its own as `blend` says."""

    node: ast.stmt
    into: ast.expr
    origin: ast.expr
    blend: ast.expr | None = None  # the new weight, of the two below
    old: str = ""  # what the blend calls a weight of `into`
    new: str = ""  # what the blend calls a weight of `origin`


@lru_cache(maxsize=512)
def copies(source: Source) -> tuple[Copy, ...]:
    return (*_loads(source), *_loops(source), *_of_dicts(source), *_of_new_dicts(source))


def between(source: Source, copy: Copy) -> list[tuple[ast.expr, ast.expr]]:
    """The networks themselves, into and origin, where the copy stands in a function that is handed them, or in a loop
    over pairs of them."""
    if not isinstance(copy.into, ast.Name) or not isinstance(copy.origin, ast.Name):
        return [(copy.into, copy.origin)]
    if pairs := _listed(source, copy.into, copy.origin):
        return pairs
    function = function_of(source, copy.node)
    if function is None:
        return [(copy.into, copy.origin)]
    found = []
    for call in calls_of(source, function):
        pair = [given_for(function, each.id, call) for each in (copy.into, copy.origin)]
        if pair[0] is not None and pair[1] is not None:
            found.append((pair[0], pair[1]))
    return found or [(copy.into, copy.origin)]


def _listed(source: Source, into: ast.Name, origin: ast.Name) -> list[tuple[ast.expr, ast.expr]]:
    """`for slow, fast in ((a, b), (c, d))`: the pairs."""
    bindings = [reaching(source, each) for each in (into, origin)]
    if any(len(each) != 1 or each[0].how != "looped" or len(each[0].path) != 1 for each in bindings):
        return []
    (one,), (other,) = bindings
    if one.value is not other.value or not isinstance(one.value, ast.Tuple | ast.List):
        return []
    rows = [each.elts for each in one.value.elts if isinstance(each, ast.Tuple | ast.List)]
    places = one.path[0], other.path[0]
    return [(row[places[0]], row[places[1]]) for row in rows if min(places) > -1 and max(places) < len(row)]


def mixed(source: Source, copy: Copy, *, old: float, new: float, rate: float | None = None) -> float | None:
    """What a blend gives for one weight of each; a number that the text does not give is taken as `rate`."""
    known: set[str] = set()
    unknown: set[str] = set()

    def leaf(node: ast.expr) -> float | None:
        name = ast.dump(bare(node))
        if name in (copy.old, copy.new):
            return old if name == copy.old else new
        if not isinstance(node, ast.Name | ast.Attribute):
            return None
        told = number(source, node)
        if told is not None or rate is None:
            known.add(name)
            return told
        if (value := meant(source, node)) is not node and isinstance(value, ast.BinOp):
            return evaluated(value, leaf)
        unknown.add(name)
        return rate

    got = None if copy.blend is None else evaluated(copy.blend, leaf)
    return got if len(unknown) < 2 and not (known and unknown) else None  # two rates may be anything to each other


def adds_up(source: Source, copy: Copy) -> bool | None:
    """Whether two equal weights stay what they are, whatever the rate; None where the blend cannot be worked out."""
    tried = [(weight, mixed(source, copy, old=weight, new=weight, rate=rate)) for weight, rate in _TRIED]
    if any(got is None for _, got in tried):
        return None
    return all(got is not None and abs(got - weight) < 1e-9 for weight, got in tried)


def bare(node: ast.expr) -> ast.expr:
    """`p` for `p.data`, `p.detach()`, `p.data.clone()`."""
    while True:
        if isinstance(node, ast.Attribute) and node.attr == "data":
            node = node.value
        elif isinstance(node, ast.Call) and method(node) in _WRAPS and (inner := receiver(node)) is not None:
            node = inner
        else:
            return node


def _loads(source: Source) -> Iterator[Copy]:
    for call in calls(source):
        given = argument(call, 0, "state_dict") if method(call) == "load_state_dict" else None
        into = receiver(call)
        if given is None or into is None:
            continue
        for value in [given, *(each for each, _ in held(source, given))]:
            origin = receiver(value) if method(value) == "state_dict" else None
            if origin is not None:
                yield Copy(statement_of(source, call), into, origin)


def _loops(source: Source) -> Iterator[Copy]:
    for loop in ast.walk(source.tree):
        if isinstance(loop, ast.For):
            held_by = weights_of(source, loop)
            for statement in (each for each in ast.walk(loop) if isinstance(each, ast.stmt)):
                for written, blend in _written(statement, loop.body):
                    others = [name for name in held_by if name != written]
                    if written in held_by and (len(others) == 1):
                        old, new = (ast.dump(ast.Name(each, ast.Load())) for each in (written, others[0]))
                        yield Copy(statement, held_by[written], held_by[others[0]], blend, old, new)


def weights_of(source: Source, loop: ast.For) -> dict[str, ast.expr]:
    """Variable of a loop -> the network whose weights it runs over; for loops over two networks at once."""
    zipped = loop.iter
    if isinstance(zipped, ast.Call) and dotted(zipped.func) == "enumerate" and zipped.args:
        zipped = zipped.args[0]
    target = loop.target
    if isinstance(target, ast.Tuple) and zipped is not loop.iter and len(target.elts) == 2:
        target = target.elts[1]
    if not (isinstance(zipped, ast.Call) and _is_zip(source, zipped) and isinstance(target, ast.Tuple)):
        return {}
    found = {}
    for each, given in zip(target.elts, zipped.args, strict=False):
        names = each.elts[-1:] if isinstance(each, ast.Tuple) else [each]
        network = _network(source, given)
        if network is not None and isinstance(names[0], ast.Name):
            found[names[0].id] = network
    return found if len(found) == 2 else {}


def _is_zip(source: Source, call: ast.Call) -> bool:
    return dotted(call.func) in ("zip", "zip_strict") or library(source, call).rpartition(".")[2].startswith("zip")


def _network(source: Source, given: ast.expr) -> ast.expr | None:
    """`net` of `net.parameters()`, `net.state_dict().values()`; also where such a list has a name."""
    for each in [given, *(value for value, _ in held(source, given))]:
        node: ast.expr | None = each
        if isinstance(node, ast.Call) and dotted(node.func) in ("list", "tuple") and node.args:
            node = node.args[0]
        inside = False
        while node is not None and method(node) in _LISTS:
            inside = inside or method(node) in ("parameters", "named_parameters", "state_dict", "buffers")
            node = receiver(node)
        if inside and node is not None:
            return node
    return None


def _written(statement: ast.stmt, block: list[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    """What a statement writes into a weight, and the value; in place only: `p = …` writes nothing."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        if isinstance(target, ast.Subscript):
            target = target.value
        if isinstance(target, ast.Attribute) and target.attr == "data" and isinstance(target.value, ast.Name):
            yield target.value.id, statement.value
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        on = receiver(call)
        name = dotted(bare(on)) if on is not None else ""
        if method(call) in ("copy_", "set_") and call.args and name:
            yield name, call.args[0]
        elif method(call) == "lerp_" and len(call.args) == 2 and on is not None and name:
            moved = ast.BinOp(ast.BinOp(call.args[0], ast.Sub(), on), ast.Mult(), call.args[1])
            yield name, ast.BinOp(on, ast.Add(), moved)
        elif method(call) == "add_":
            yield from _scaled(call, block)


def _scaled(call: ast.Call, block: list[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    """`t.mul_(1 - tau)` and `t.add_(tau * p)`, in one line or in two."""
    on = receiver(call)
    added = call.args[0] if len(call.args) == 1 else None
    if on is None or added is None:
        return
    for each in call.keywords:
        if each.arg == "alpha":
            added = ast.BinOp(added, ast.Mult(), each.value)
    scaled = on if method(on) == "mul_" else None
    if scaled is None:
        scaled = next(
            (
                each.value
                for each in block
                if isinstance(each, ast.Expr)
                and method(each.value) == "mul_"
                and ast.dump(bare(receiver(each.value) or on)) == ast.dump(bare(on))
            ),
            None,
        )
    if isinstance(scaled, ast.Call) and len(scaled.args) == 1 and (inner := receiver(scaled)) is not None:
        name = dotted(bare(inner))
        if name:
            yield name, ast.BinOp(ast.BinOp(inner, ast.Mult(), scaled.args[0]), ast.Add(), added)


def _of_dicts(source: Source) -> Iterator[Copy]:
    """`mine[key] = tau * other[key] + (1 - tau) * mine[key]`, where both are state_dict() of networks."""
    for loop in ast.walk(source.tree):
        if not isinstance(loop, ast.For):
            continue
        for statement in loop.body:
            if not (isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript)):
                continue
            place = statement.targets[0]
            into = _network(source, place.value)
            read = [
                each
                for each in ast.walk(statement.value)
                if isinstance(each, ast.Subscript)
                and ast.dump(each.slice) == ast.dump(place.slice)
                and ast.dump(each.value) != ast.dump(place.value)
            ]
            origins = {ast.dump(each.value): each for each in read}
            if into is None or len(origins) != 1:
                continue
            into = _loaded_into(source, place.value) or into
            other = next(iter(origins.values()))
            origin = _network(source, other.value)
            if origin is not None:
                mine = ast.Subscript(place.value, place.slice, ast.Load())
                yield Copy(statement, into, origin, statement.value, ast.dump(mine), ast.dump(other))


def _loaded_into(source: Source, weights: ast.expr) -> ast.expr | None:
    """The network that gets a dict of weights in the end, where it is one: writing into a state_dict() changes none."""
    name, around = dotted(weights), scope_of(source, weights)
    given = [
        receiver(call)
        for call in calls_in(around)
        if method(call) == "load_state_dict" and name and call.args and dotted(call.args[0]) == name
    ]
    return given[0] if len(given) == 1 else None


def _of_new_dicts(source: Source) -> Iterator[Copy]:
    """`slow.load_state_dict({k: tau * v + (1 - tau) * mine[k] for k, v in fast.state_dict().items()})`."""
    for call in calls(source):
        given = argument(call, 0, "state_dict") if method(call) == "load_state_dict" else None
        into = receiver(call)
        made = meant(source, given) if given is not None else None
        if into is None or not isinstance(made, ast.DictComp) or len(made.generators) != 1:
            continue
        weights = dict(_weights_in(source, made))
        mine = [each for each, network in weights.items() if same(network, into)]
        others = {ast.dump(each): network for each, network in weights.items() if each not in mine}
        if mine and len(others) == 1 and len({ast.dump(each) for each in mine}) == 1:
            (new, origin), old = next(iter(others.items())), ast.dump(mine[0])
            yield Copy(statement_of(source, call), into, origin, made.value, old, new)


def _weights_in(source: Source, made: ast.DictComp) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What stands for a weight in such a dict, with its network: `mine[k]`, and v of `items()`."""
    loop = made.generators[0]
    pair = loop.target.elts if isinstance(loop.target, ast.Tuple) and len(loop.target.elts) == 2 else []
    index = dotted(pair[0] if pair else loop.target)
    for each in ast.walk(made.value):
        network = None
        if isinstance(each, ast.Subscript) and dotted(each.slice) == index:
            network = _network(source, each.value)
        elif pair and isinstance(each, ast.Name) and each.id == dotted(pair[1]) and method(loop.iter) == "items":
            network = _network(source, loop.iter)
        if isinstance(each, ast.expr) and network is not None:
            yield each, network
