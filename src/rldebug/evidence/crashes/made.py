"""Where a tensor that a frame can name was made, and whether that happened before the pass that failed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from rldebug.evidence.crashes.facts import is_array, is_tensor, kind_of
from rldebug.evidence.crashes.named import Named
from rldebug.evidence.crashes.source import (
    Place,
    bindings,
    called,
    called_with,
    callers,
    fills,
    first_argument,
    inside_loop,
    latest,
    methods_of,
    node_at,
    parameters_of,
)
from rldebug.syntax.names import dotted, library, method
from rldebug.syntax.places import Function, Scope, above, calls_in, loops_of, own_nodes

Loop = ast.For | ast.While | ast.AsyncFor


Spot = tuple[Place, ast.AST]


@dataclass(frozen=True, eq=False)
class Made:
    """A statement that made a value."""

    place: Place
    node: ast.AST
    value: ast.expr
    name: str  # as it is called there
    filled: Spot | None = None  # the line that put it where it is kept
    renewed: tuple[Spot, ...] = ()  # the lines that make what it is kept in anew, or empty it


@dataclass(frozen=True, eq=False)
class Repeat:
    """The loop whose earlier pass came first: the innermost one that is not in its first pass."""

    place: Place
    depth: int  # of the frame: 0 for the innermost
    loop: Loop


def repeat_of(stack: list[Place]) -> Repeat | None:
    for depth, place in enumerate(stack):
        here = node_at(place, place.line or 0)
        for loop in loops_of(place.source, here) if here is not None else ():
            if not _first_pass(place, loop):
                return Repeat(place, depth, loop)
    return None


def _first_pass(place: Place, loop: Loop) -> bool:
    """`for epoch in range(4)` with epoch still 0."""
    if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Name) or not isinstance(loop.iter, ast.Call):
        return False
    if dotted(loop.iter.func) not in ("range", "trange", "tqdm.trange") or len(loop.iter.args) > 2:
        return False
    start: object = 0
    if len(loop.iter.args) == 2:
        start = loop.iter.args[0].value if isinstance(loop.iter.args[0], ast.Constant) else None
    return type(start) is int and place.values.get(loop.target.id) == start


# ── made where ──────────────────────────────────────────────────────────────────────────────────────────────────────


def made(alias: Named, place: Place, stack: list[Place]) -> Made | None:
    """None where this name was only handed over: another name of the same tensor may tell."""
    if alias.owner is not None and alias.attribute:
        return _made_attribute(alias, stack)
    name = alias.kept.split("[")[0]
    if name in parameters_of(place) and not bindings(place.scope, name):
        return None
    return _made_name(place, name, stack, kept=bool(alias.holder))


def _made_name(place: Place, name: str, stack: list[Place], *, kept: bool, deep: int = 2) -> Made | None:
    # Only what carries a graph is asked about: `h = torch.zeros(8)` where an episode ends has not made it.
    binding = latest(place, name, lambda each: kept or not is_fresh(place, each.value))
    put = _put(place, name, kept=kept)
    if put and not kept and binding is not None and not is_fresh(place, binding.value):
        # `x = torch.stack(x)` has made a tensor of the list that was filled.
        put = [each for each in put if getattr(each[0], "lineno", 0) > binding.statement.lineno]
    if put:
        return _followed(place, *put[-1], name, tuple(_renewals(place, name)), stack)
    if binding is None or (kept and isinstance(binding.statement, ast.For | ast.AsyncFor)):
        return None
    here = (place, binding.statement)
    if kept and deep and isinstance(binding.value, ast.Call) and (callee := called(place, binding.value)):
        for node in (each for back in returned(callee, binding.part) for each in ast.walk(back)):
            if isinstance(node, ast.Name) and (inner := _made_name(callee, node.id, stack, kept=True, deep=deep - 1)):
                return replace(inner, renewed=(here,))
    return Made(place, binding.statement, binding.value, name, None, (here,) if kept else ())


def _put(place: Place, name: str, *, kept: bool) -> list[tuple[ast.AST, ast.expr]]:
    """What is put into a list; into a tensor, only by its places."""
    return [
        (node, value)
        for node, value in fills(place.scope, name)
        if not isinstance(value, ast.Constant) and (kept or isinstance(node, ast.Assign))
    ]


def _renewals(place: Place, name: str) -> Iterator[Spot]:
    """Where a list is made, or emptied."""
    for binding in bindings(place.scope, name):
        yield place, binding.statement
    for call in calls_in(place.scope):
        if method(call) == "clear" and isinstance(call.func, ast.Attribute) and dotted(call.func.value) == name:
            yield place, call


def _made_attribute(alias: Named, stack: list[Place]) -> Made | None:
    """In the methods of the object that holds it, or by that name in the functions that were at work."""
    places = [(each, f"{first_argument(each)}.{alias.attribute}") for each in methods_of(alias.owner)]
    places += [(each, alias.kept.split("[")[0]) for each in stack]
    put = [(place, *each, name) for place, name in places for each in _put(place, name, kept=bool(alias.holder))]
    if put:
        place, node, value, name = put[-1]
        renewed = tuple(each for place, name in places for each in _renewals(place, name))
        return _followed(place, node, value, name, renewed, stack)
    bound = [(place, each, name) for place, name in places for each in bindings(place.scope, name)]
    bound = [each for each in bound if not _is_empty(each[1].value)]
    # What a constructor sets is most often only the beginning.
    bound.sort(key=lambda each: not (isinstance(each[0].scope, Function) and each[0].scope.name == "__init__"))
    for place, binding, name in bound[-1:]:
        return Made(place, binding.statement, binding.value, name)
    return None


def _is_empty(value: ast.expr) -> bool:
    """None, 0, [], {}, ()."""
    held = [each for each in ast.iter_child_nodes(value) if isinstance(each, ast.expr)]
    return isinstance(value, ast.Constant) or (isinstance(value, ast.List | ast.Dict | ast.Tuple) and not held)


def _followed(
    place: Place, node: ast.AST, value: ast.expr, name: str, renewed: tuple[Spot, ...], stack: list[Place]
) -> Made:
    """From `logps.append(logp)` to the line that made `logp`; from a method that stores to its only caller."""
    spot = (place, node)
    if any(isinstance(each, ast.Name) and each.id in parameters_of(place)[1:] for each in ast.walk(value)):
        calls = list(callers(place, stack))
        if len(calls) == 1:
            outer, call = calls[0]
            told = called_with(place, outer, call, bound=True)
            given = told.arguments.get(value.id, (outer, call))[1] if isinstance(value, ast.Name) else call
            return replace(_followed(outer, call, given, name, renewed, stack), filled=spot)
    if isinstance(value, ast.Name):
        there = replace(place, line=getattr(node, "lineno", None))
        binding = latest(there, value.id)
        if binding is not None and not isinstance(binding.statement, ast.For | ast.AsyncFor):
            return Made(place, binding.statement, binding.value, value.id, spot, renewed)
    return Made(place, node, value, name, spot, renewed)


def returned(place: Place, part: int | None) -> Iterator[ast.expr]:
    for node in own_nodes(place.scope):
        if isinstance(node, ast.Return) and node.value is not None:
            value = node.value
            if part is not None and isinstance(value, ast.Tuple) and part < len(value.elts):
                value = value.elts[part]
            yield value


# ── before the pass that failed? ────────────────────────────────────────────────────────────────────────────────────


def is_old(told: Made, stack: list[Place], repeat: Repeat | None) -> bool:
    """Whether the loop goes round without making it anew."""
    if repeat is None:
        return False
    if carried(told, stack, repeat):
        return True
    return not any(_in_pass(stack, repeat, *spot) for spot in told.renewed or ((told.place, told.node),))


def _in_pass(stack: list[Place], repeat: Repeat, place: Place, node: ast.AST) -> bool:
    """Whether a line is executed each time that the loop goes round, before the line that failed."""
    scopes = [each.scope for each in stack]
    if place.scope in scopes:
        depth = scopes.index(place.scope)
        if depth == repeat.depth:
            return inside_loop(place, node, repeat.loop)
        return depth < repeat.depth
    # In a function that has returned: where the loop calls it.
    return _calls_into(repeat.place, repeat.loop, place.scope)


def never_emptied(told: Made, stack: list[Place], repeat: Repeat | None) -> bool:
    """Whether each pass puts more into a list that is never made anew."""
    return repeat is not None and told.filled is not None and _in_pass(stack, repeat, *told.filled)


def handed_on(told: Made, stack: list[Place], repeat: Repeat | None) -> bool:
    """`value = next_value` at the end of a loop: what the pass before computed goes on into this one."""
    if repeat is None or told.place.scope is not repeat.place.scope or told.filled is not None:
        return False
    below = getattr(told.node, "lineno", 0) > (repeat.place.line or 0)
    return below and inside_loop(told.place, told.node, repeat.loop) and bool(dotted(told.value))


def _calls_into(place: Place, loop: ast.AST, scope: Scope, deep: int = 2) -> bool:
    return any(leads_into(place, call, scope, deep) for call in calls_in(loop))


def leads_into(place: Place, call: ast.Call, scope: Scope, deep: int = 2) -> bool:
    """Whether a call calls a function, or one that calls it. Calling a network calls its forward()."""
    callee = called(place, call)
    if callee is None:
        return False
    return callee.scope is scope or (deep > 0 and _calls_into(callee, callee.scope, scope, deep - 1))


def carried(told: Made, stack: list[Place], repeat: Repeat | None) -> str:
    """Whether it is computed from what it was in the pass before: `call`, as h in `out, h = cell(x, h)`; `sum`, as in
    `x += y`."""
    if repeat is not None and not _in_pass(stack, repeat, told.place, told.node):
        return ""
    return "" if _begun_anew(told, repeat) else _from_itself(told)


def _begun_anew(told: Made, repeat: Repeat | None) -> bool:
    """Whether each pass gives the name another value first, above the line: `values = []`, `h = h.detach()`."""
    within: tuple[ast.AST, ...] = tuple(above(told.place.source, told.node))
    for binding in bindings(told.place.scope, told.name):
        statement = binding.statement
        if statement is told.node or statement.lineno > getattr(told.node, "lineno", 0):
            continue
        same = repeat is not None and told.place.scope is repeat.place.scope
        if same and repeat is not None and not inside_loop(told.place, statement, repeat.loop):
            continue
        around = next(above(told.place.source, statement), None)
        always = around in within and not isinstance(statement, ast.For | ast.AsyncFor | ast.AugAssign)
        if always and (_names(binding.value, told.name) is False or _detaches(binding.value)):
            return True
    return False


def _names(value: ast.expr, name: str) -> bool:
    return any(dotted(each) == name for each in ast.walk(value) if isinstance(each, ast.Name | ast.Attribute))


def _detaches(value: ast.expr) -> bool:
    return any(method(each) in ("detach", "detach_") for each in ast.walk(value))


def is_fresh(place: Place, value: ast.expr, deep: int = 3) -> bool:
    """Whether an expression makes data of nothing: a number, `[]`, `torch.zeros(8)`, a function that gives those."""
    if isinstance(value, ast.Constant):
        return True
    if isinstance(value, ast.List | ast.Tuple | ast.Dict):
        held = value.values if isinstance(value, ast.Dict) else value.elts
        return all(is_fresh(place, each, deep) for each in held)
    if isinstance(value, ast.Name) and deep:
        found = bindings(place.scope, value.id)
        return bool(found) and all(is_fresh(place, each.value, deep - 1) for each in found)
    if not isinstance(value, ast.Call) or not deep:
        return False
    if library(place.source, value) in _CREATED:
        return True
    callee = called(place, value)
    if callee is None and isinstance(value.func, ast.Attribute):
        return is_fresh(place, value.func.value, deep)  # torch.zeros(8).to(device)
    given = list(returned(callee, None)) if callee is not None else []
    return callee is not None and bool(given) and all(is_fresh(callee, each, deep - 1) for each in given)


_CREATED = frozenset(f"torch.{each}" for each in ("zeros", "ones", "empty", "full", "rand", "randn", "zeros_like"))


def _from_itself(told: Made) -> str:
    seen: set[str] = set()
    ahead = [(told.value, "")]
    while ahead and len(seen) < 12:
        value, how = ahead.pop()
        for node in _with_graph(told.place, value):
            inner = dotted(node) if isinstance(node, ast.Name | ast.Attribute) else ""
            if not inner or inner in seen:
                continue
            kind = how or ("call" if _in_call(value, node) else "sum" if isinstance(value, ast.BinOp) else "")
            if inner == told.name:
                if kind:
                    return kind
                continue
            if any(inner.startswith(f"{each}.") for each in seen) or _is_data(told.place.value(node)):
                continue
            for binding in bindings(told.place.scope, inner):
                if not isinstance(binding.statement, ast.For | ast.AsyncFor | ast.With):
                    seen.add(inner)
                    ahead.append((binding.value, kind))
    return ""


def _with_graph(place: Place, value: ast.AST) -> Iterator[ast.AST]:
    """The nodes of an expression, those left out whose graph does not get into its value."""
    on = value.func if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) else None
    if on is not None and (on.attr in _CUTS or kind_of(place.value(on.value)) == "environment"):
        return
    yield value
    for child in ast.iter_child_nodes(value):
        yield from _with_graph(place, child)


_CUTS = frozenset({"detach", "item", "numpy", "tolist", "sample", "argmax"})


def _is_data(value: object) -> bool:
    """Whether what a name stands for now carries no graph for certain."""
    return is_array(value) or isinstance(value, int | float) or (is_tensor(value) and not value.requires_grad)  # type: ignore[attr-defined]


def _in_call(value: ast.expr, node: ast.AST) -> bool:
    """Whether a name is given to a call in an expression, rather than called itself."""
    for call in ast.walk(value):
        if isinstance(call, ast.Call):
            given = [*call.args, *(each.value for each in call.keywords)]
            if any(node is inner for each in given for inner in ast.walk(each)):
                return True
    return False
