"""Where a program goes round with a world that is no object of an environment's kind: a function on a state, a
closure, a generator that is sent actions, an immutable position, a method of whoever learns.

Told by the flow of data alone: in a loop, something called gives several values (or one with fields that are tested);
from one of them comes, through a call, what it is given the next time. That may also be a recurrent network or a
solver: whether it is a step only its results can tell.
"""

from __future__ import annotations

import ast
import builtins
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

_RESULTS = range(3, 7)  # that a step hands back: an observation, a reward and a flag at least
_PLAIN = frozenset(dir(builtins))
_COMPILED = ("jit", "script", "trace", "kernel", "vectorize", "triton", "warp")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_INNER = (*_FUNCTIONS, ast.ClassDef, ast.Lambda)
_LOOPS = (ast.For, ast.While)

Which = tuple[int, ...]


@dataclass(eq=False)
class Place:
    """A call that may be a step, and where its episodes begin."""

    call: ast.Call
    name: str  # of what is called, as it stands there
    action: int | str  # the argument that was chosen, by its place or keyword
    seen: tuple[int, ...]  # results that it was chosen by
    count: int  # of results; 0 where it is one object
    state: int | str | None = None  # the argument that is a result of the call before; "" what it is a method of
    states: tuple[int, ...] = ()  # those results
    tested: tuple[str, ...] = ()  # fields of the one object that decide how the program goes on
    read: tuple[str, ...] = ()  # others that are read
    afresh: list[tuple[ast.expr, Which, int]] = field(default_factory=list)  # the value, which results, its place in it
    mixed: list[tuple[ast.expr, Which]] = field(default_factory=list)  # a value that may hold beginnings, which results
    written: list[tuple[ast.stmt, str, Which]] = field(default_factory=list)  # after which a variable may hold some
    given: list[tuple[ast.stmt, str, Which]] = field(default_factory=list)  # before which an argument may be one
    renewed: bool = False  # begun anew within the loop, or by a function that is called anew


def places(tree: ast.Module, own: Callable[[ast.stmt], bool] = lambda _: False) -> list[Place]:
    """In the order of the text. own: whether an import is of the program's own files."""
    libraries = _imported(tree, own)
    compiled = {
        each.id
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and any(word in ast.unparse(call.func).lower() for word in _COMPILED)
        for given in [*call.args, *(one.value for one in call.keywords)]
        for each in ast.walk(given)
        if isinstance(each, ast.Name)
    }
    found: list[Place] = []
    for scope, owner in _scopes(tree):
        if isinstance(scope, _FUNCTIONS):
            decorators = [ast.unparse(each).lower() for each in scope.decorator_list]
            if scope.name in compiled or any(word in each for word in _COMPILED for each in decorators):
                continue
        found += _Scope(scope, owner, libraries).places()
    return found


def _imported(tree: ast.Module, own: Callable[[ast.stmt], bool]) -> frozenset[str]:
    """Names that stand for what others wrote."""
    return frozenset(
        (alias.asname or alias.name).split(".")[0]
        for each in ast.walk(tree)
        if isinstance(each, (ast.Import, ast.ImportFrom)) and not own(each)
        for alias in each.names
    )


def _scopes(tree: ast.Module) -> Iterator[tuple[ast.AST, ast.ClassDef | None]]:
    yield tree, None
    left: list[tuple[ast.AST, ast.ClassDef | None]] = [(tree, None)]
    while left:
        node, owner = left.pop(0)
        for each in ast.iter_child_nodes(node):
            if isinstance(each, _FUNCTIONS):
                yield each, owner
                left.append((each, None))
            else:
                left.append((each, each if isinstance(each, ast.ClassDef) else owner))


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """All nodes of a scope, but for functions and classes within."""
    left = list(ast.iter_child_nodes(scope))
    while left:
        node = left.pop(0)
        yield node
        if not isinstance(node, _INNER):
            left = [*ast.iter_child_nodes(node), *left]


def key(node: ast.AST) -> str | None:
    """Of a variable, an attribute of one, or an element of either, as which it counts."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = key(node.value)
        return None if base is None else f"{base}.{node.attr}"
    return key(node.value) if isinstance(node, (ast.Subscript, ast.Starred)) else None


def mentions(node: ast.AST) -> set[str]:
    """`a.b.c` mentions a, a.b and a.b.c."""
    return {found for each in ast.walk(node) if isinstance(each, (ast.Name, ast.Attribute)) and (found := key(each))}


@dataclass(frozen=True, eq=False)
class _Binding:
    key: str
    value: ast.expr
    place: int  # of the target in what is unpacked; -1 where it is bound to the whole
    stmt: ast.AST
    element: bool = False  # an element of it is


def _bindings(nodes: Iterable[ast.AST]) -> Iterator[_Binding]:
    for node in nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                yield from _bound(target, node.value, node)
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr, ast.AugAssign)) and node.value is not None:
            yield from _bound(node.target, node.value, node)
        elif isinstance(node, ast.For):
            yield from _bound(node.target, node.iter, node)


def _bound(target: ast.AST, value: ast.expr, stmt: ast.AST) -> Iterator[_Binding]:
    if not isinstance(target, (ast.Tuple, ast.List)):
        if (found := key(target)) is not None:
            yield _Binding(found, value, -1, stmt, isinstance(target, ast.Subscript))
        return
    pairs = isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts)
    for place, each in enumerate(target.elts):
        if pairs:
            yield from _bound(each, value.elts[place], stmt)  # type: ignore[attr-defined]
        elif (found := key(each)) is not None:
            yield _Binding(found, value, place, stmt, isinstance(each, ast.Subscript))


class _Scope:
    def __init__(self, scope: ast.AST, owner: ast.ClassDef | None, libraries: frozenset[str]) -> None:
        self.scope, self.owner, self.libraries = scope, owner, libraries
        self.nodes = list(_own(scope))
        arguments = scope.args if isinstance(scope, _FUNCTIONS) else None
        self.parameters = [each.arg for each in (*arguments.posonlyargs, *arguments.args)] if arguments else []
        self.me = self.parameters[0] if owner is not None and self.parameters else ""
        self._inside: dict[ast.AST, frozenset[ast.AST]] = {}
        self._bound: dict[ast.AST, list[_Binding]] = {}
        self.above: dict[ast.AST, ast.AST] = {}
        for each in (scope, *self.nodes):
            if each is scope or not isinstance(each, _INNER):
                for inner in ast.iter_child_nodes(each):
                    self.above[inner] = each

    def places(self) -> list[Place]:
        found = []
        for node in self.nodes:
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.value, ast.Call):
                try:
                    candidate = _Candidate(self, node)
                except _NoneSuch:
                    continue
                found.append(candidate)
        steps = {each.stmt for each in found}
        for each in found:
            each.find_beginnings(found, steps)
        return [each.place for each in found if not each.several]

    def loops(self, node: ast.AST) -> list[ast.For | ast.While]:
        """Innermost first."""
        return [each for each in self.path(node) if isinstance(each, _LOOPS)]

    def inside(self, loop: ast.AST) -> frozenset[ast.AST]:
        if loop not in self._inside:
            self._inside[loop] = frozenset(_own(loop))
        return self._inside[loop]

    def bound_in(self, loop: ast.AST) -> list[_Binding]:
        if loop not in self._bound:
            self._bound[loop] = list(_bindings(_own(loop)))
        return self._bound[loop]

    def path(self, node: ast.AST) -> list[ast.AST]:
        """From the node outwards, within the scope."""
        found = []
        while node is not self.scope:
            found.append(node)
            node = self.above[node]
        return found

    def bindings(self, name: str) -> list[tuple[_Binding, bool]]:
        """Of a variable, wherever it is bound; and whether that is in this scope. Of an attribute also in other methods
        of the class."""
        here = [(each, True) for each in self.bound_in(self.scope) if each.key == name]
        if not self.me or not name.startswith(self.me + ".") or self.owner is None:
            return here
        for method in self.owner.body:
            if isinstance(method, _FUNCTIONS) and method is not self.scope and method.args.args:
                other = method.args.args[0].arg + name[len(self.me) :]
                here += [(each, False) for each in self.bound_in(method) if each.key == other]
        return here


class _NoneSuch(Exception):
    pass


class _Candidate:
    def __init__(self, scope: _Scope, stmt: ast.Assign) -> None:
        assert isinstance(stmt.value, ast.Call)
        self.scope, self.stmt, self.call = scope, stmt, stmt.value
        loops = scope.loops(stmt)
        self.loop: ast.AST = loops[-1] if loops else scope.scope
        self.inner: ast.AST = loops[0] if loops else scope.scope
        self.several = False  # worlds that are stepped in turn
        self.results = self._results(stmt.targets[0])
        self._check_callee()
        self.bound = self._bound_in(self.loop)
        given = [*self.call.args, *(each.value for each in self.call.keywords)]
        if not any(self.reach(each, self.bound)[0] for each in given):
            raise _NoneSuch
        self.carried = self._carried()
        action, reached, state = self._action()
        if loops and loops[0] is not self.loop:
            self._check_inner(loops[0])
        elif loops:
            self._check_lanes(loops[0])
        if not loops and not any("." in name for name, place in self.results.items() if place in reached):
            raise _NoneSuch
        states = tuple(sorted(self.carried[state[1]])) if state is not None else ()
        self.place = Place(
            self.call,
            ast.unparse(self.call.func),
            action,
            tuple(sorted(reached)),
            self.count,
            None if state is None else state[0],
            states,
        )
        if not self.count:
            self._fields()

    # ── whether it goes round ───────────────────────────────────────────────────────────────────────────────────────

    def _results(self, target: ast.expr) -> dict[str, int]:
        if isinstance(target, (ast.Tuple, ast.List)):
            self.count = len(target.elts)
            names = [key(each) for each in target.elts]
            plain = all(isinstance(each, (ast.Name, ast.Attribute)) for each in target.elts)
            if self.count not in _RESULTS or not plain:
                raise _NoneSuch
            return {name: place for place, name in enumerate(names) if name is not None and name != "_"}
        self.count = 0
        name = key(target) if isinstance(target, (ast.Name, ast.Attribute)) else None
        if name is None:
            raise _NoneSuch
        return {name: 0}

    def _check_callee(self) -> None:
        name = key(self.call.func)
        if name is None or any(isinstance(each, ast.Subscript) for each in ast.walk(self.call.func)):
            raise _NoneSuch
        root, _, last = name.rpartition(".")
        first = name.split(".")[0]
        if first in self.scope.libraries or name in _PLAIN:
            raise _NoneSuch
        # What has a `step` is watched as an object.
        if last == "step" and root and root != self.scope.me and root not in self.results:
            raise _NoneSuch
        if any(isinstance(each, ast.Starred) for each in self.call.args):
            raise _NoneSuch

    def _bound_in(self, loop: ast.AST) -> dict[str, list[_Binding]]:
        inside = defaultdict(list)
        for each in self.scope.bound_in(loop):
            if each.stmt is not self.stmt:
                inside[each.key].append(each)
        return inside

    def _carried(self) -> dict[str, set[int]]:
        """Variables that hold a result, or did until an episode began anew; and which."""
        found = {name: {place} for name, place in self.results.items()}
        for _ in range(4):
            before = sum(map(len, found.values()))
            for name, bindings in self.bound.items():
                for each in bindings:
                    if each.place < 0 and not each.element and isinstance(each.stmt, (ast.Assign, ast.AnnAssign)):
                        for held in self._copied(name, each.value, found):
                            found.setdefault(name, set()).update(held)
            if sum(map(len, found.values())) == before:
                break
        return found

    def _copied(self, name: str, value: ast.expr, found: dict[str, set[int]]) -> Iterator[set[int]]:
        if isinstance(value, ast.IfExp):
            yield from self._copied(name, value.body, found)
            yield from self._copied(name, value.orelse, found)
        elif (other := key(value)) is not None and other in found and not isinstance(value, ast.Subscript):
            yield found[other]
        elif isinstance(value, ast.Call) and name not in self.results:
            # Beginnings put among them: `torch.where(done, fresh, state)`.
            parts = [*value.args, *([value.func.value] if isinstance(value.func, ast.Attribute) else [])]
            held = [found[each] for one in parts if (each := key(one)) in found]
            if held and self._begins_elsewhere(name):
                yield set().union(*held)

    def _begins_elsewhere(self, name: str) -> bool:
        inside = self.scope.inside(self.loop)
        return any(not here or each.stmt not in inside for each, here in self.scope.bindings(name))

    def reach(self, value: ast.expr, bound: dict[str, list[_Binding]]) -> tuple[set[int], set[str], bool]:
        """Results that it comes from, the variables on the way, and whether something is called there."""
        places: set[int] = set()
        left = [value]
        seen: set[str] = set()
        called = False
        while left:
            each = left.pop()
            names = mentions(each)
            for call in (node for node in ast.walk(each) if isinstance(node, ast.Call)):
                name = key(call.func)
                called = called or name not in _PLAIN
                if name is not None and self.scope.me and name.startswith(self.scope.me + "."):
                    names |= {other for other in [*bound, *self.results] if other.startswith(self.scope.me + ".")}
            for name in names - seen:
                seen.add(name)
                if name in self.results:
                    places.add(self.results[name])
                left += [one.value for one in bound.get(name, ())]
        return places, seen, called

    def _action(self) -> tuple[int | str, set[int], tuple[int | str, str] | None]:
        given: list[tuple[int | str, ast.expr]] = list(enumerate(self.call.args))
        given += [(each.arg, each.value) for each in self.call.keywords if each.arg is not None]
        state: tuple[int | str, str] | None = None
        chosen = []
        for place, value in given:
            name = key(value) if isinstance(value, (ast.Name, ast.Attribute)) else None
            if name in self.carried:
                state = state or (place, str(name))
                continue
            places, seen, called = self.reach(value, self.bound)
            if places and called:
                chosen.append((place, name, places, seen))
        if isinstance(self.call.func, ast.Attribute):
            name = key(self.call.func.value)
            if name in self.carried:
                state = state or ("", str(name))
        if len(chosen) > 1:
            chosen = [
                each
                for each in chosen
                if each[1] is None or not any(each[1] in one[3] for one in chosen if one is not each)
            ]
        if len(chosen) != 1:
            raise _NoneSuch
        place, _, places, _ = chosen[0]
        return place, places, state

    def _check_inner(self, loop: ast.For | ast.While) -> None:
        """In a loop within the loop the action must be chosen anew each time: else it is one step in several parts."""
        bound = self._bound_in(loop)
        given = [*self.call.args, *(each.value for each in self.call.keywords)]
        if not any(self.reach(each, bound)[0] for each in given if key(each) not in self.carried):
            raise _NoneSuch
        self._check_lanes(loop)

    def _check_lanes(self, loop: ast.For | ast.While) -> None:
        """Several worlds that are stepped in turn cannot be told apart."""
        called = mentions(self.call.func)
        if isinstance(loop, ast.For) and mentions(loop.target) & called:
            raise _NoneSuch
        if any(name not in self.carried and self._always(each) for name in called for each in self.bound.get(name, ())):
            raise _NoneSuch

    def _always(self, each: _Binding) -> bool:
        """Bound in every round, to nothing that goes on."""
        path = self.scope.path(each.stmt)[1:]
        if self.inner not in path or isinstance(each.value, ast.IfExp):
            return False
        return all(isinstance(one, (ast.With, ast.AsyncWith)) for one in path[: path.index(self.inner)])

    def _fields(self) -> None:
        """Of the one object: those that are tested, and those that are read."""
        (name,) = self.results
        names = {each for each, held in self.carried.items() if held}
        tests = [each.test for each in self.scope.nodes if isinstance(each, (ast.If, ast.While, ast.IfExp, ast.Assert))]
        inside = {id(each) for test in tests for each in ast.walk(test)}
        called = {id(each.func) for each in self.scope.nodes if isinstance(each, ast.Call)}
        tested: set[str] = set()
        read: set[str] = set()
        for each in self.scope.nodes:
            if isinstance(each, ast.Attribute) and key(each.value) in names and id(each) not in called:
                (tested if id(each) in inside else read).add(each.attr)
        if not tested or not read - tested or name not in names:
            raise _NoneSuch
        self.place.tested, self.place.read = tuple(sorted(tested)), tuple(sorted(read - tested))

    # ── where it begins ─────────────────────────────────────────────────────────────────────────────────────────────

    def find_beginnings(self, others: list[_Candidate], steps: set[ast.Assign]) -> None:
        wanted = {*self.place.seen, *self.place.states}
        loop = self.scope.inside(self.loop)
        for name, held in self.carried.items():
            which = tuple(sorted(held & wanted))
            if not which:
                continue
            for each, here in self.scope.bindings(name):
                if each.stmt in steps or (here and self._nearest(each.stmt, name, others) is not self):
                    continue
                inside = here and each.stmt in loop
                self._look(each, which, inside, here)
            if isinstance(self.scope.scope, _FUNCTIONS) and name in self.scope.parameters:
                self.place.given.append((self.scope.scope.body[0], name, which))
                self.place.renewed = True

    def _look(self, each: _Binding, which: tuple[int, ...], inside: bool, here: bool) -> None:
        if isinstance(each.stmt, (ast.AugAssign, ast.For)):
            return
        if each.element:
            if inside and isinstance(each.stmt, ast.stmt):
                self.place.written.append((each.stmt, each.key, which))
                self.place.renewed = True
            return
        branches = [each.value]
        while any(isinstance(one, ast.IfExp) for one in branches):
            branches = [
                part for one in branches for part in ((one.body, one.orelse) if isinstance(one, ast.IfExp) else (one,))
            ]
        for value in branches:
            plain = isinstance(value, (ast.Name, ast.Attribute)) and key(value) in self.carried
            if plain or (isinstance(value, ast.Constant) and value.value is None):
                continue
            if mentions(value) & set(self.carried) and here:
                if inside and each.place < 0 and isinstance(value, ast.Call):
                    self.place.mixed.append((value, which))
                    self.place.renewed = True
                continue
            self.several |= here and self.inner is not self.scope.scope and self._always(each)
            self.place.afresh.append((value, which, each.place))
            self.place.renewed |= inside or isinstance(self.scope.scope, _FUNCTIONS)

    def _nearest(self, stmt: ast.AST, name: str, others: list[_Candidate]) -> _Candidate:
        """Whose beginning it is, of several that use the variable: the deepest in common, the next in the text."""
        path = self.scope.path(stmt)

        def far(other: _Candidate) -> tuple[int, bool, int]:
            around = {id(each) for each in self.scope.path(other.stmt)}
            depth = next((place for place, each in enumerate(path) if id(each) in around), len(path))
            line, own = getattr(stmt, "lineno", 0), other.stmt.lineno
            return depth, own < line, abs(own - line)

        return min((each for each in others if name in each.carried), key=far, default=self)
