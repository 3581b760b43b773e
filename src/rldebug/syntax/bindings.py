"""Who is bound to what: the assignments of a function, the attributes of a class, and which of them reach a use."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from rldebug.evidence.source import Source
from rldebug.syntax.names import dotted
from rldebug.syntax.places import Function, Scope, above, branches_apart, class_of, function_of, loops_of, own_nodes

How = Literal["assigned", "augmented", "looped", "entered", "parameter", "imported", "defined"]


@dataclass(frozen=True)
class Binding:
    """One place where a name or an attribute of `self` gets its value."""

    name: str  # x, self.net
    value: ast.expr | None  # what was assigned, looped over or entered; None where that is not in the text
    path: tuple[int, ...]  # the places in what was unpacked: (1,) for r in `o, r = …`; -1: what follows a star
    how: How
    node: ast.AST  # the statement, or the parameter

    @property
    def whole(self) -> ast.expr | None:
        """The value, where the name stands for all of it."""
        return self.value if self.how == "assigned" and not self.path else None


@lru_cache(maxsize=4096)
def bound_in(source: Source, scope: Scope) -> dict[str, list[Binding]]:
    """Name -> where it is bound in this function itself, in the order of the text; attributes as `self.net`."""
    found: dict[str, list[Binding]] = {}
    for each in _bound(scope):
        found.setdefault(each.name, []).append(each)
    return found


def _bound(scope: Scope) -> Iterator[Binding]:
    if isinstance(scope, Function):
        for parameter in parameters(scope):
            yield Binding(parameter.arg, None, (), "parameter", parameter)
    for node in own_nodes(scope):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                yield from _targets(target, node.value, (), "assigned", node)
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            yield from _targets(node.target, node.value, (), "assigned", node)
        elif isinstance(node, ast.AugAssign):
            yield from _targets(node.target, node.value, (), "augmented", node)
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            yield from _targets(node.target, node.iter, (), "looped", node)
        elif isinstance(node, ast.With | ast.AsyncWith):
            for item in node.items:
                if item.optional_vars is not None:
                    yield from _targets(item.optional_vars, item.context_expr, (), "entered", node)
        elif isinstance(node, Function | ast.ClassDef):
            yield Binding(node.name, None, (), "defined", node)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                yield Binding(alias.asname or alias.name.split(".")[0], None, (), "imported", node)


def _targets(target: ast.expr, value: ast.expr, path: tuple[int, ...], how: How, node: ast.AST) -> Iterator[Binding]:
    if isinstance(target, ast.Tuple | ast.List):
        given = value.elts if isinstance(value, ast.Tuple | ast.List) and how == "assigned" and not path else None
        starred = next((place for place, each in enumerate(target.elts) if isinstance(each, ast.Starred)), None)
        for place, each in enumerate(target.elts):
            if starred is not None and place >= starred:
                yield from _targets(each.value if isinstance(each, ast.Starred) else each, value, (-1,), how, node)
            elif given is not None and len(given) == len(target.elts):
                yield from _targets(each, given[place], (), how, node)  # a, b = x, y
            else:
                yield from _targets(each, value, (*path, place), how, node)
    elif name := dotted(target):
        yield Binding(name, value, path, how, node)


def parameters(function: Function) -> list[ast.arg]:
    given = function.args
    stars = [each for each in (given.vararg, given.kwarg) if each is not None]
    return [*given.posonlyargs, *given.args, *given.kwonlyargs, *stars]


@lru_cache(maxsize=4096)
def attributes(source: Source, owner: ast.ClassDef) -> dict[str, list[Binding]]:
    """`self.net` -> where it is bound, in any method of the class and of the classes of this file it inherits from."""
    found: dict[str, list[Binding]] = {}
    for each in (owner, *bases(source, owner)):
        for function in (node for node in each.body if isinstance(node, Function)):
            me = first_parameter(function)
            for name, places in bound_in(source, function).items():
                if me and name.startswith(f"{me}."):
                    found.setdefault(f"self.{name.partition('.')[2]}", []).extend(places)
    return found


def first_parameter(function: Function) -> str:
    """What a method calls `self`."""
    given = [*function.args.posonlyargs, *function.args.args]
    return given[0].arg if given else ""


@lru_cache(maxsize=512)
def classes(source: Source) -> dict[str, ast.ClassDef]:
    return {node.name: node for node in ast.walk(source.tree) if isinstance(node, ast.ClassDef)}


def bases(source: Source, owner: ast.ClassDef) -> list[ast.ClassDef]:
    """The classes of this file that a class inherits from, near ones first."""
    known, found, ahead = classes(source), [], list(owner.bases)
    while ahead:
        base = known.get(dotted(ahead.pop(0)))
        if base is not None and base is not owner and base not in found:
            found.append(base)
            ahead.extend(base.bases)
    return found


@lru_cache(maxsize=512)
def functions(source: Source) -> dict[str, list[Function]]:
    """Name -> the functions and methods of this file that are called so."""
    found: dict[str, list[Function]] = {}
    for node in ast.walk(source.tree):
        if isinstance(node, Function):
            found.setdefault(node.name, []).append(node)
    return found


def called(source: Source, call: ast.Call) -> Function | None:
    """The function of this file that a call runs, where only one can be meant."""
    if isinstance(call.func, ast.Name):
        known = [each for each in functions(source).get(call.func.id, ()) if class_of_method(source, each) is None]
        return known[0] if len(known) == 1 else None
    if isinstance(call.func, ast.Attribute):
        known = [each for each in functions(source).get(call.func.attr, ()) if class_of_method(source, each)]
        owner = class_of(source, call)
        function = function_of(source, call)
        if owner is not None and function is not None and dotted(call.func.value) == first_parameter(function):
            mine = [each for each in known if class_of_method(source, each) in (owner, *bases(source, owner))]
            return mine[0] if mine else None
        return known[0] if len(known) == 1 else None
    return None


def class_of_method(source: Source, function: Function) -> ast.ClassDef | None:
    inner = next(above(source, function), None)
    return inner if isinstance(inner, ast.ClassDef) else None


@lru_cache(maxsize=4096)
def calls_of(source: Source, function: Function) -> tuple[ast.Call, ...]:
    """The calls of this file that run a function; none where that cannot be told."""
    return tuple(
        node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and _name(node) == function.name and called(source, node) is function
    )


def _name(call: ast.Call) -> str:
    return (
        call.func.attr
        if isinstance(call.func, ast.Attribute)
        else call.func.id
        if isinstance(call.func, ast.Name)
        else ""
    )


def given_for(function: Function, parameter: str, call: ast.Call) -> ast.expr | None:
    """What a call hands over for a parameter; the default where it hands nothing; None where a star hides it."""
    names = [each.arg for each in [*function.args.posonlyargs, *function.args.args]]
    made = function.name in ("__init__", "__call__")  # by the call of its class, of its object
    bound = (made or isinstance(call.func, ast.Attribute)) and bool(names) and names[0] in ("self", "cls")
    places = names[1:] if bound else names
    for each in call.keywords:
        if each.arg == parameter:
            return each.value
    if any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords):
        return None
    if parameter in places and places.index(parameter) < len(call.args):
        return call.args[places.index(parameter)]
    return default_of(function, parameter)


def default_of(function: Function, parameter: str) -> ast.expr | None:
    given = [*function.args.posonlyargs, *function.args.args]
    from_behind = dict(zip([each.arg for each in reversed(given)], reversed(function.args.defaults), strict=False))
    named = {each.arg: value for each, value in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)}
    return from_behind.get(parameter) or named.get(parameter)


@lru_cache(maxsize=1 << 16)
def reaching(source: Source, use: ast.expr) -> Sequence[Binding]:
    """The bindings whose value a name (or `self.net`) may hold where it is used, the last first.

    In the function itself, in the order of the text: the last one that is always run hides those before it; those after
    it count in a loop around both. A name that the function does not bind is looked up around it.
    """
    name = dotted(use)
    if not name:
        return ()
    scope: Scope | None = function_of(source, use) or source.tree
    inner: ast.AST = use
    while scope is not None:
        places = bound_in(source, scope).get(name, [])
        if places:
            near = _near(source, places, inner) if scope is _scope(source, inner) else places[::-1]
            if near and (not _of_self(source, use) or near[-1].node in _always(source, inner)):
                return near
        if _of_self(source, use):
            break
        inner, scope = scope, (function_of(source, scope) or source.tree) if scope is not source.tree else None
    owner = class_of(source, use)
    if owner is not None and _of_self(source, use):
        return attributes(source, owner).get(f"self.{name.partition('.')[2]}", [])[::-1]
    return ()


def _scope(source: Source, node: ast.AST) -> Scope:
    return function_of(source, node) or source.tree


def _of_self(source: Source, use: ast.expr) -> bool:
    name, function = dotted(use), function_of(source, use)
    while function is not None and class_of_method(source, function) is None:
        function = function_of(source, function)
    return "." in name and function is not None and name.partition(".")[0] == first_parameter(function)


def _near(source: Source, places: Sequence[Binding], use: ast.AST) -> list[Binding]:
    always = _always(source, use)
    around = set(loops_of(source, use))
    found = []
    hidden = False
    for each in reversed(places):
        if _within(source, each.node, use):
            continue  # the statement that the use stands in binds it only afterwards
        if _place(each.node) < _place(use) and not hidden and not branches_apart(source, each.node, use):
            found.append(each)
            hidden = each.node in always and each.how != "augmented"
    later = [
        each
        for each in reversed(places)
        if (_place(each.node) >= _place(use) or _within(source, each.node, use))
        and around & set(loops_of(source, each.node))
        and not isinstance(each.node, ast.For | ast.AsyncFor)
    ]
    # A loop binds its own name anew in each of its rounds.
    if hidden and found and around and not around - {found[-1].node, *loops_of(source, found[-1].node)}:
        later = []  # bound anew in each round before it is used
    return found + later


def _within(source: Source, statement: ast.AST, use: ast.AST) -> bool:
    """Whether a use stands on the right of the statement that binds."""
    if isinstance(statement, ast.For | ast.AsyncFor | ast.With | ast.AsyncWith | ast.comprehension | ast.arg):
        return False
    return any(each is statement for each in above(source, use))


def _place(node: ast.AST) -> tuple[int, int]:
    if isinstance(node, ast.comprehension):
        return 0, 0  # bound where it is used, though written behind
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _always(source: Source, use: ast.AST) -> set[ast.AST]:
    """The statements that are run whenever the use is, as far as blocks tell: earlier in a block that it stands in."""
    found: set[ast.AST] = set()
    for each in (use, *above(source, use)):
        for block in ("body", "orelse", "finalbody"):
            statements = getattr(each, block, None)
            if isinstance(statements, list):
                found.update(statements)
                for one in statements:
                    if isinstance(one, ast.With | ast.AsyncWith):
                        found.update(one.body)
        if isinstance(each, ast.For | ast.AsyncFor):
            found.add(each)
        if isinstance(each, Function):
            found.update(parameters(each))
            break
    return found
