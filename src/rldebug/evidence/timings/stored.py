"""What `step()` and the networks that act have returned, followed through the text to where it is stored."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import zip_longest

from rldebug.evidence.source import Source
from rldebug.evidence.timing import Slice, Spot
from rldebug.evidence.timings.in_environment import name_of
from rldebug.evidence.timings.nodes import node_at, statement_at
from rldebug.evidence.timings.ways import Way, line_of
from rldebug.syntax.names import dotted, library, method
from rldebug.syntax.places import Function, Scope, class_of, loops_of, own_nodes, scope_of

_KEEPS = frozenset(
    {"to", "view", "reshape", "float", "long", "double", "clone", "copy", "astype", "flatten", "unsqueeze"}
)  # methods of arrays and tensors


@dataclass(frozen=True)
class _Results:
    """What they return is called in a function, and the loop that repeats it."""

    names: set[str]
    around: ast.AST | None


class Stored:
    """Where it is put: in the function that steps or acts, in those that it is returned to, and in those that it is
    handed on to. What leads to `others` is more than that."""

    def __init__(
        self, steps: Iterable[Way], acting: Iterable[Way], others: Iterable[Way], sources: Mapping[str, Source]
    ) -> None:
        self._sources = sources
        self._others = {line for way in (*acting, *others) for line in way}
        self._results: dict[Scope, _Results] = {}
        for way in (*steps, *acting):
            self._follow(way)

    def _follow(self, way: Way) -> None:
        """To the functions that it is returned to."""
        returned: list[bool] | None = None  # which of the values
        for file, _, line in reversed(way):
            source = self._sources.get(file)
            statement = statement_at(source, Spot(file, "", line)) if source is not None else None
            if source is None or statement is None:
                return
            scope = scope_of(source, statement)
            around = next(iter(loops_of(source, statement)), None)
            names = self._results.setdefault(scope, _Results(set(), around)).names
            names |= _assigned(statement, returned)
            _convert(source, scope, names)
            if not isinstance(statement, ast.Return):  # else all that came is handed on
                returned = _returned(source, scope, names)
            if returned is not None and not any(returned):
                return

    def puts(self, each: Slice) -> bool:
        """Whether one of the lines that lead there stores it."""
        if each.before not in ("step", "reset") and each.after not in ("step", "reset"):
            return False
        handed: set[str] = set()
        spots = [spot for spot in each.stack if spot.kind == "user" and spot.file in self._sources]
        for spot, inner in zip_longest(spots, spots[1:]):
            source = self._sources[spot.file]
            statement = statement_at(source, spot)
            if statement is None:
                return False
            scope = scope_of(source, statement)
            names = self._names(source, scope, statement, handed)
            if names and _stores(statement, names, inner) and line_of(spot) not in self._others:
                return True
            handed = self._handed(source, spot, inner, names) if names and inner is not None else set()
        return False

    def _names(self, source: Source, scope: Scope, statement: ast.stmt, handed: set[str]) -> set[str]:
        names = set(handed)
        if names:
            _convert(source, scope, names)
        found = self._results.get(scope)
        # In the loop that steps: a later one may use the last of them to work out something else.
        if found is not None and (found.around is None or found.around in loops_of(source, statement)):
            names |= found.names
        return names

    def _handed(self, source: Source, spot: Spot, inner: Spot, names: set[str]) -> set[str]:
        """What a function that is called with results knows them as."""
        there = self._sources[inner.file]
        statement, below = statement_at(source, spot), statement_at(there, inner)
        if statement is None or below is None:
            return set()
        scope = scope_of(there, below)
        if scope is scope_of(source, statement):
            return names  # a comprehension
        return set() if isinstance(scope, ast.Module) else _parameters(there, scope, node_at(source, spot), names)


def _parameters(source: Source, function: Function, call: ast.AST | None, names: set[str]) -> set[str]:
    known = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    known = known[1:] if class_of(source, function) is not None else known
    if not isinstance(call, ast.Call):
        call = next((each for each in ast.walk(call) if isinstance(each, ast.Call)), None) if call else None
    if call is None:
        return set(known)  # an operator of a class of the user's
    found: set[str] = set()
    rest = function.args.vararg
    for place, each in enumerate(call.args):
        if _used(each) & names:
            into = known[place:] if isinstance(each, ast.Starred) else known[place : place + 1]
            found |= set(into)
            if rest is not None and (not into or isinstance(each, ast.Starred)):
                found.add(rest.arg)
    for keyword in call.keywords:
        if _used(keyword.value) & names:
            others = function.args.kwarg
            own = {each.arg for each in (*function.args.args, *function.args.kwonlyargs)}
            found |= {keyword.arg} & own if keyword.arg else set()
            if others is not None and keyword.arg not in own:
                found.add(others.arg)
    return found


def _stores(statement: ast.stmt, names: set[str], inner: Spot | None) -> bool:
    """`memory[i] = reward`, `self.rows += [...]`, or what is there for its effect alone and is given a result."""
    if isinstance(statement, ast.Assign | ast.AugAssign):
        if inner is not None and name_of(inner) != "__setitem__":
            return False  # a function of the user's works out what is stored
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        into = any(isinstance(each, ast.Subscript) for target in targets for each in _each_target(target)) or (
            isinstance(statement, ast.AugAssign) and isinstance(statement.value, ast.List | ast.Tuple)
        )
        return into and bool(_used(statement.value) & names)
    if not isinstance(statement, ast.Expr):
        return False
    call = statement.value
    given = [*call.args, *(each.value for each in call.keywords)] if isinstance(call, ast.Call) else [call]
    return any(_used(each) & names for each in given)


def _each_target(target: ast.expr) -> list[ast.expr]:
    return target.elts if isinstance(target, ast.Tuple | ast.List) else [target]


def _returned(source: Source, scope: Scope, names: set[str]) -> list[bool] | None:
    """Which of the values that a function returns are results; one, where it does not say."""
    for each in own_nodes(scope):
        if isinstance(each, ast.Return) and each.value is not None and _used(each.value) & names:
            values = each.value.elts if isinstance(each.value, ast.Tuple) else [each.value]
            return [bool(_used(value) & names) and _converts(source, value) for value in values]
    return [False]


def _convert(source: Source, scope: Scope, names: set[str]) -> None:
    """Adds what they are called after they were turned into tensors, or renamed."""
    for _ in range(2):
        for each in ast.walk(scope):
            if isinstance(each, ast.Assign) and _converts(source, each.value) and _used(each.value) & names:
                names |= _assigned(each)


def _assigned(statement: ast.stmt, which: list[bool] | None = None) -> set[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    found = [each for target in targets if target is not None for each in _each_target(target)]
    if which is not None and len(which) == len(found):
        found = [each for each, wanted in zip(found, which, strict=True) if wanted]
    return {
        node.id
        for target in found
        for node in ast.walk(target)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def _used(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}


def _converts(source: Source, value: ast.expr) -> bool:
    """A name, or names in a few conversions: `torch.tensor(reward).to(device).view(-1)`. Not what is worked out."""
    nodes = list(ast.walk(value))
    if any(isinstance(each, ast.BinOp) for each in nodes):
        return False
    return all(_known_call(source, each) for each in nodes if isinstance(each, ast.Call))


def _known_call(source: Source, call: ast.Call) -> bool:
    full = library(source, call)
    if full:
        return full.startswith(("torch.", "numpy."))
    return method(call) in _KEEPS or dotted(call.func) in ("float", "int", "bool", "list", "tuple")
