"""The text behind the frames of a crash: where a name got its value, what was put into a list, who called whom."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import CodeType, FrameType, FunctionType, MethodType
from typing import Any

from rldebug.evidence.crashes.facts import attributes, is_module
from rldebug.evidence.crashes.origin import is_own
from rldebug.evidence.source import Source, SourceError, parsed
from rldebug.syntax.bindings import first_parameter, parameters
from rldebug.syntax.names import dotted, method
from rldebug.syntax.places import Function, Scope, above, class_of, loops_of, own_nodes, scope_of

_FILLS = frozenset({"append", "appendleft", "extend", "add", "push", "insert", "store", "update", "put"})


@dataclass(frozen=True, eq=False)
class Place:
    """A function of the user's, or the top level of a file, and what its names stand for where that is known."""

    source: Source
    scope: Scope
    values: Mapping[str, Any]
    line: int | None = None  # where it stands; None for a function that is not being called
    arguments: Mapping[str, tuple[Place, ast.expr]] = field(default_factory=dict)  # what it was given, by whom

    def value(self, node: ast.AST) -> Any:
        """What `a.b.c` stands for, nothing looked up that would run code; None where that is not known."""
        name = dotted(node)
        first, *rest = name.split(".") if name else [""]
        value = self.values.get(first)
        if first in self.arguments and first not in self.values and not bindings(self.scope, first):
            outer, given = self.arguments[first]  # of a function that has returned: what it was called with
            value = outer.value(given)
        for part in rest:
            held = attributes(value)
            if is_module(value):
                held = {**held, **held["_parameters"], **held["_buffers"], **held["_modules"]}
            value = held.get(part) if part in held else vars(type(value)).get(part) if value is not None else None
            if isinstance(value, FunctionType):
                break
        return value


@dataclass(frozen=True)
class Binding:
    """A name is given a value."""

    statement: ast.stmt
    value: ast.expr
    part: int | None = None  # which of the values, where several are unpacked


@lru_cache(maxsize=64)
def _parsed(file: str, text: str) -> Source | None:
    try:
        return parsed(text, file)
    except SourceError:
        return None


def source_of(file: str) -> Source | None:
    return _parsed(file, "".join(linecache.getlines(file)))


def place_of(frame: FrameType, line: int | None = None) -> Place | None:
    source = source_of(frame.f_code.co_filename)
    if source is None:
        return None
    scope = _scope(source, frame.f_code)
    return (
        None if scope is None else Place(source, scope, {**frame.f_globals, **frame.f_locals}, line or frame.f_lineno)
    )


def place_of_function(function: Any, owner: Any = None) -> Place | None:
    """The text of a function of the user's own that is not being called now."""
    if isinstance(function, MethodType):
        function, owner = function.__func__, function.__self__
    # A decorator such as torch.no_grad() has put its own in the place of the user's.
    function = getattr(function, "__wrapped__", function)
    if not isinstance(function, FunctionType) or not is_own(function.__code__.co_filename, function.__module__ or ""):
        return None
    source = source_of(function.__code__.co_filename)
    scope = _scope(source, function.__code__) if source is not None else None
    if source is None or scope is None:
        return None
    values = dict(function.__globals__)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        try:
            values[name] = cell.cell_contents
        except ValueError:  # not filled yet
            continue
    if owner is not None and function.__code__.co_argcount:
        values[function.__code__.co_varnames[0]] = owner
    return Place(source, scope, values)


def _scope(source: Source, code: CodeType) -> Scope | None:
    if code.co_name == "<module>":
        return source.tree
    inside: Scope | None = source.tree if code.co_name.startswith("<") else None
    for node in ast.walk(source.tree):
        if isinstance(node, Function):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            if node.name == code.co_name and first == code.co_firstlineno:
                return node
            # A comprehension or a lambda is part of the function that it stands in.
            if code.co_name.startswith("<") and first <= code.co_firstlineno <= (node.end_lineno or first):
                inside = node
    return inside


# ── what gives a name its value ─────────────────────────────────────────────────────────────────────────────────────


def bindings(scope: ast.AST, name: str) -> list[Binding]:
    """Every statement that gives a name such as `x` or `self.x` a value, in the order of the text."""
    found: list[Binding] = []
    for node in own_nodes(scope):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                found.extend(_unpacked(node, target, node.value, name))
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            found.extend(_unpacked(node, node.target, node.value, name))
        elif isinstance(node, ast.AugAssign) and dotted(node.target) == name:
            whole = ast.BinOp(left=node.target, op=node.op, right=node.value)
            found.append(Binding(node, ast.copy_location(whole, node)))
        elif isinstance(node, ast.For | ast.AsyncFor):
            found.extend(_unpacked(node, node.target, node.iter, name))
        elif isinstance(node, ast.With | ast.AsyncWith):
            for item in node.items:
                if item.optional_vars is not None:
                    found.extend(_unpacked(node, item.optional_vars, item.context_expr, name))
    return found


def _unpacked(statement: ast.stmt, target: ast.expr, value: ast.expr, name: str) -> Iterator[Binding]:
    if dotted(target) == name:
        yield Binding(statement, value)
    elif isinstance(target, ast.Starred):
        yield from _unpacked(statement, target.value, value, name)
    elif isinstance(target, ast.Tuple | ast.List):
        alike = isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts)
        for place, each in enumerate(target.elts):
            if alike:
                yield from _unpacked(statement, each, value.elts[place], name)  # type: ignore[attr-defined]
                continue
            for binding in _unpacked(statement, each, value, name):
                yield Binding(statement, binding.value, place)


def latest(place: Place, name: str, wanted: Callable[[Binding], bool] = lambda _: True) -> Binding | None:
    """The one that was executed last, as far as the text tells: inside of the loop that is being gone through, above
    the line rather than below it. Those that are not `wanted` only where there is no other."""
    every = bindings(place.scope, name)
    found = [each for each in every if wanted(each)] or every
    if not found:
        return None
    if place.line is None:
        return found[-1]
    here = node_at(place, place.line)
    around = loops_of(place.source, here) if here is not None else []

    def order(binding: Binding) -> tuple[int, bool, int]:
        loops = loops_of(place.source, binding.statement)
        line = binding.statement.lineno
        if isinstance(binding.statement, ast.For | ast.AsyncFor):
            loops = [binding.statement, *loops]
        return sum(each in loops for each in around), line <= (place.line or 0), line

    return max(found, key=order)


def node_at(place: Place, line: int) -> ast.stmt | None:
    """The innermost statement on a line."""
    found = [
        each
        for each in own_nodes(place.scope)
        if isinstance(each, ast.stmt) and each.lineno <= line <= (each.end_lineno or each.lineno)
    ]
    return found[-1] if found else None


def fills(scope: ast.AST, name: str) -> Iterator[tuple[ast.stmt | ast.Call, ast.expr]]:
    """What is put into a list, a dict or an array of this name: `x.append(y)`, `x[i] = y`, `x["k"].append(y)`."""
    for node in own_nodes(scope):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _FILLS:
            if base(node.func.value) == name:
                for value in (*node.args, *(each.value for each in node.keywords)):
                    yield node, value
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Subscript) and base(target) == name:
                    yield node, node.value


def base(node: ast.AST) -> str:
    """`x` of `x[i]["k"]`."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return dotted(node)


def methods_of(owner: Any) -> Iterator[Place]:
    """The methods of an object's class that are the user's own."""
    for kind in type(owner).__mro__:
        for function in list(vars(kind).values()):
            function = getattr(function, "__func__", function)
            if (place := place_of_function(function, owner)) is not None:
                yield place


def first_argument(place: Place) -> str:
    return first_parameter(place.scope) if isinstance(place.scope, Function) else ""


def parameters_of(place: Place) -> list[str]:
    return [each.arg for each in parameters(place.scope)] if isinstance(place.scope, Function) else []


def called_with(callee: Place, caller: Place, call: ast.Call, *, bound: bool) -> Place:
    """The callee, knowing what it was given."""
    names = parameters_of(callee)[1 if bound else 0 :]
    given: dict[str, tuple[Place, ast.expr]] = {}
    for name, value in zip(names, call.args, strict=False):
        if isinstance(value, ast.Starred):
            break
        given[name] = (caller, value)
    given |= {each.arg: (caller, each.value) for each in call.keywords if each.arg in names}
    return Place(callee.source, callee.scope, callee.values, callee.line, given)


def stack_of(levels: list[tuple[FrameType, int]]) -> list[Place]:
    """The places of the user's own frames, the innermost first, each knowing what the one outside gave it."""
    told: list[Place] = []
    outer: Place | None = None
    for frame, line in levels:
        place = place_of(frame, line)
        if place is None:
            outer = None
            continue
        if outer is not None and isinstance(place.scope, Function):
            for call in _calls_at(outer, place.scope.name):
                bound = isinstance(call.func, ast.Attribute) and first_argument(place) in ("self", "cls")
                place = called_with(place, outer, call, bound=bound)
                break
        told.append(place)
        outer = place
    return told[::-1]


def _calls_at(place: Place, name: str) -> Iterator[ast.Call]:
    here = node_at(place, place.line or 0)
    for node in ast.walk(here) if here is not None else ():
        if isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] == name:
            yield node


def called(place: Place, call: ast.Call) -> Place | None:
    """The user's own function that a call calls, where the live values tell."""
    function = place.value(call.func)
    owner = place.value(call.func.value) if isinstance(call.func, ast.Attribute) else None
    if isinstance(owner, type):
        owner = None
    if is_module(function):
        function, owner = getattr(type(function), "forward", None), function
    found = place_of_function(function, owner)
    return found and called_with(found, place, call, bound=owner is not None and not hasattr(owner, "__path__"))


def callers(place: Place, stack: list[Place]) -> Iterator[tuple[Place, ast.Call]]:
    """The lines of the file that call a method by its name. What `self` is there, an object in reach may tell."""
    if not isinstance(place.scope, Function):
        return
    kinds = {type(value).__name__: value for each in stack for value in each.values.values() if attributes(value)}
    for each in dict.fromkeys([place.source, *(one.source for one in stack)]):
        for node in ast.walk(each.tree):
            if method(node) == place.scope.name:
                assert isinstance(node, ast.Call)
                outer = Place(each, scope_of(each, node), place.values, node.lineno)
                known = next((one for one in stack if one.scope is outer.scope), None)
                home = class_of(each, node)
                values = dict(known.values if known is not None else place.values)
                if home is not None and home.name in kinds and known is None:
                    values[first_argument(outer)] = kinds[home.name]
                yield replace(outer, values=values), node


def line_told(place: Place, node: ast.AST) -> dict[str, Any]:
    """File, line and text of a statement, for the facts of a crash."""
    line = getattr(node, "lineno", 0)
    text = place.source.lines[line - 1].strip() if 0 < line <= len(place.source.lines) else ""
    return {"file": place.source.file, "line": line, "text": text[:160]}


def inside_loop(place: Place, node: ast.AST, loop: ast.AST) -> bool:
    return any(each is loop for each in above(place.source, node))
