"""Which statements of a program compute what its losses are made of: told by what flows in, never by names."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from rldebug.syntax.across import Program, Value, back, run_by
from rldebug.syntax.bindings import reaching
from rldebug.syntax.names import library, method
from rldebug.syntax.places import loops_of, parents, scope_of, statement_of

_MOST = 8_000  # values of one walk
_SUMS = frozenset({"sum", "cumsum", "lfilter", "dot", "matmul", "einsum", "convolve", "correlate", "logcumsumexp"})
_PARTS = {4: ("observation", "reward", "end", ""), 5: ("observation", "reward", "end", "end", "")}


@dataclass(frozen=True, eq=False)
class Walk:
    """Everything that some values are computed from."""

    program: Program
    made_of: dict[Value, list[Value]]  # near ones first

    @cached_property
    def used_in(self) -> dict[Value, list[Value]]:
        found: dict[Value, list[Value]] = {}
        for each, parts in self.made_of.items():
            for part in parts:
                found.setdefault(part, []).append(each)
        return found

    @cached_property
    def labels(self) -> dict[Value, frozenset[str]]:
        """observation, reward, end, network: what a value is computed from. A network hides what it is given."""
        told: dict[Value, set[str]] = {}
        for each in self.made_of:
            if label := label_of(self.program, each):
                self._carry(told, each, label)
        return {each: frozenset(labels) for each, labels in told.items()}

    def _carry(self, told: dict[Value, set[str]], start: Value, label: str) -> None:
        ahead = [start]
        while ahead:
            each = ahead.pop()
            known = told.setdefault(each, set())
            if label not in known and (each is start or not is_network(self.program, each.node)):
                known.add(label)
                ahead.extend(self.used_in.get(each, ()))

    def of(self, node: ast.expr) -> frozenset[str]:
        return self.labels.get(Value(node), frozenset())

    def leads_to(self, start: Value, goal: Value) -> bool:
        """Whether a value is computed from another."""
        seen, ahead = {start}, [start]
        while ahead:
            for each in self.made_of.get(ahead.pop(), ()):
                if each == goal:
                    return True
                if each not in seen:
                    seen.add(each)
                    ahead.append(each)
        return False

    def statement(self, node: ast.AST) -> ast.stmt:
        return statement_of(self.program.home[node], node)

    def scope(self, node: ast.AST) -> ast.AST:
        return scope_of(self.program.home[node], node)


def walk(program: Program, roots: Iterable[ast.expr], *, networks: bool = True) -> Walk:
    """Without `networks`, not beyond what they answer."""
    made_of: dict[Value, list[Value]] = {}
    ahead = deque(Value(each) for each in roots)
    while ahead and len(made_of) < _MOST:
        each = ahead.popleft()
        if each not in made_of:
            made_of[each] = back(program, each) if networks or not is_network(program, each.node) else []
            ahead.extend(made_of[each])
    return Walk(program, made_of)


def label_of(program: Program, value: Value) -> str:
    size = program.steps.get(value.node)
    if size is not None and value.path:
        place = value.path[0][0]
        return _PARTS[size][place] if place < size else ""
    if method(value.node) == "reset":
        return "observation"
    return "network" if is_network(program, value.node) else ""


def is_network(program: Program, node: ast.expr) -> bool:
    """Whether something that the program made is called: a network, as far as anyone can tell."""
    if not isinstance(node, ast.Call) or node in program.steps or run_by(program, node):
        return False
    source = program.home[node]
    if library(source, node):
        return False
    if isinstance(node.func, ast.Name):
        bindings = reaching(source, node.func)
        return bool(bindings) and all(each.how in ("assigned", "parameter", "looped") for each in bindings)
    if isinstance(node.func, ast.Attribute):
        kept = program.filled.get(("attribute", node.func.attr), ())
        return any(isinstance(each.node, ast.Call) for each in kept)
    return isinstance(node.func, ast.Subscript)


def returns(walk: Walk) -> dict[ast.expr, int]:
    """Where rewards become returns, and how sure that is. 0: a reward is added to what a network expects, or to the sum
    of those after it; 1: to a product; 2: to a sum that grows; 3: all are summed; 4: a function of a library is given
    rewards and values. What is made of returns beside what a network says, a loss, is none of these."""
    found: dict[ast.expr, int] = {}
    ahead = [each for each in walk.made_of if label_of(walk.program, each) == "reward"]
    seen = set(ahead)
    while ahead:
        each = ahead.pop()
        for user in walk.used_in.get(each, ()):
            kind = _becomes_return(walk, each, user)
            if kind is not None:
                node = each.node if kind == 2 else user.node
                found[node] = min(kind, found.get(node, kind))
            if kind not in (0, 4) and user not in seen and not _meets_network(walk, each, user):
                seen.add(user)
                ahead.append(user)
    return found


def _meets_network(walk: Walk, reward: Value, user: Value) -> bool:
    node = user.node
    if is_network(walk.program, node):
        return True
    around = parents(walk.program.home[node]).get(node)
    if isinstance(around, ast.BinOp) and isinstance(around.op, ast.Add | ast.Sub):
        return False  # r - v + gamma * w: the sum is not over yet
    return any("network" in walk.of(each) for each in _others(walk, reward, node))


def _others(walk: Walk, reward: Value, node: ast.expr) -> list[ast.expr]:
    """What a reward is put together with."""
    if isinstance(node, ast.BinOp):
        return [each for each in (node.left, node.right) if each is not reward.node]
    if isinstance(node, ast.Call) and not run_by(walk.program, node):
        given = [*node.args, *(each.value for each in node.keywords)]
        return [each for each in given if each is not reward.node]
    return []


def _becomes_return(walk: Walk, reward: Value, user: Value) -> int | None:
    node = user.node
    others = _others(walk, reward, node)
    if isinstance(node, ast.BinOp):
        if not isinstance(node.op, ast.Add) or not others:
            return None
        if "network" in walk.of(others[0]) or walk.leads_to(Value(others[0]), user):
            return 0
        return 1 if isinstance(others[0], ast.BinOp) and isinstance(others[0].op, ast.Mult) else None
    if isinstance(node, ast.Call) and not run_by(walk.program, node):
        last = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if last in _SUMS:
            return 3
        known = library(walk.program.home[node], node).startswith(("torch.", "numpy."))
        given = not known and len(others) < len(node.args) + len(node.keywords)
        return 4 if given and any("network" in walk.of(each) for each in others) else None
    statement = walk.statement(reward.node)
    if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add) and statement.value is reward.node:
        return 2
    return None


def surest(found: dict[ast.expr, int]) -> list[ast.expr]:
    return [each for each, kind in found.items() if kind == min(found.values())]


def recursions(walk: Walk) -> list[ast.expr]:
    """Sums of returns in which each has a share of the one before it: `last = delta + gamma * lam * last`."""
    found: list[ast.expr] = []
    for value in walk.made_of:
        node = value.node
        repeated = not value.path and bool(loops_of(walk.program.home[node], node))
        if repeated and isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            for one, other in ((node.left, node.right), (node.right, node.left)):
                carried = isinstance(other, ast.BinOp) and walk.leads_to(Value(other), value)
                if carried and "reward" in walk.of(one) and not walk.leads_to(Value(one), value):
                    found.append(node)
    return found


def advantages(walk: Walk) -> list[ast.expr]:
    """Differences of a return and what a network expected."""
    return [
        value.node
        for value in walk.made_of
        if isinstance(value.node, ast.BinOp)
        and isinstance(value.node.op, ast.Sub)
        and "reward" in walk.of(value.node.left)
        and "network" in walk.of(value.node.right)
        and "reward" not in walk.of(value.node.right)
    ]


def operands(walk: Walk, node: ast.expr, label: str) -> list[ast.stmt]:
    """The other statements of the same function that work out what of an expression has a label."""
    scope, own = walk.scope(node), walk.statement(node)
    found: dict[ast.stmt, None] = {}
    ahead = [Value(part) for part in ast.walk(node) if isinstance(part, ast.expr)]
    seen: set[Value] = set()
    while ahead:
        each = ahead.pop()
        if each in seen or walk.scope(each.node) is not scope or label not in walk.labels.get(each, ()):
            continue
        seen.add(each)
        if walk.statement(each.node) is not own:
            found[walk.statement(each.node)] = None
        ahead.extend(walk.made_of.get(each, ()))
    return list(found)


def stored(walk: Walk, label: str) -> list[ast.stmt]:
    """The statements that put away what an environment gave, as the losses find it, in the function that steps it."""
    found: dict[ast.stmt, None] = {}
    scopes = {walk.scope(each) for each in stepped(walk)}
    for value in walk.made_of:
        if label in walk.labels.get(value, ()) and walk.scope(value.node) in scopes and is_put(walk, value.node):
            found[walk.statement(value.node)] = None
    return list(found)


def is_put(walk: Walk, node: ast.expr) -> bool:
    statement = walk.statement(node)
    if isinstance(statement, ast.Assign):
        parts = [part for target in statement.targets for part in ast.walk(target)]
        if any(isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store) for part in parts):
            return True
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    given = (*statement.value.args, *statement.value.keywords)
    return any(part is node for each in given for part in ast.walk(each))


def stepped(walk: Walk) -> list[ast.stmt]:
    """Where an environment is stepped of whose rewards or ends the losses learn."""
    found = [each.node for each in walk.made_of if label_of(walk.program, each) in ("reward", "end")]
    return list(dict.fromkeys(walk.statement(each) for each in found))
