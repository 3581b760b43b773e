"""The best action is taken with probability epsilon, a random one else."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import reaching
from rldebug.syntax.names import constant, dotted, library, method
from rldebug.syntax.numbers import number
from rldebug.syntax.places import parents
from rldebug.syntax.sums import factors

_UNIFORM = ("random.random", "numpy.random.rand", "numpy.random.random", "numpy.random.uniform", "torch.rand")
_RANDOM = ("randrange", "randint", "choice", "integers")


@dataclass(frozen=True, kw_only=True)
class GreedyWithEpsilon(Rule):
    """The best action is taken with probability epsilon, a random one else.

    ## What it checks
    `if random() < eps:` has argmax in its branch and a random action in the other one, where eps is small or falls
    while training. Read from the source.

    ## Why it matters
    The agent begins greedy and ends random: it learns from a policy that nobody wants, and the returns it reports fall
    while it learns.

    ## Likely causes
    1. The comparison or the branches are swapped. Confirm: set eps = 1, all actions must be random.

    ## What to try first
    `if random.random() < eps: action = env.action_space.sample()`.

    ## When it is fine
    Where the number is the probability of the greedy action.

    ## References
    Sutton and Barto, *Reinforcement learning*, 2.2.
    """

    code: ClassVar[str] = "EXP620"
    name: ClassVar[str] = "greedy-with-epsilon"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("EXP001", "EXP003", "EXP303")

    small: float = 0.3  # a constant below this is no probability of the greedy action

    def check(self, evidence: Source) -> Iterator[Finding]:
        for node in ast.walk(evidence.tree):
            if not isinstance(node, ast.If | ast.IfExp):
                continue
            told = _compared(evidence, node.test)
            if told is None:
                continue
            chance, taken_below = told
            first, other = _branches(evidence, node)
            greedy = first if taken_below else other  # what is done with probability `chance`
            rest = other if taken_below else first
            if not _picks_best(evidence, greedy) or not _picks_any(evidence, rest):
                continue
            if _picks_any(evidence, greedy) or not (self._small(evidence, chance) or _falls(evidence, chance)):
                continue
            name = evidence.quoted(chance)
            yield self.finding(
                f"with probability {name} the best action is taken, else a random one: it is the other way round",
                where=evidence.at(node.test),
                seen=evidence.quoted(node.test),
                expected=f"a random action with probability {name}",
                help="exchange the two branches, or turn the comparison round",
                confidence=0.9,
            )

    def _small(self, source: Source, chance: ast.expr) -> bool:
        value = number(source, chance)
        return value is not None and 0 < value < self.small


def _compared(source: Source, test: ast.expr) -> tuple[ast.expr, bool] | None:
    """eps of `random() < eps`, and whether the branch is taken below it."""
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1):
        return None
    left, right, op = test.left, test.comparators[0], test.ops[0]
    below = isinstance(op, ast.Lt | ast.LtE)
    if not below and not isinstance(op, ast.Gt | ast.GtE):
        return None
    if _uniform(source, left) and dotted(right):
        return right, below
    if _uniform(source, right) and dotted(left):
        return left, not below
    return None


def _uniform(source: Source, node: ast.expr) -> bool:
    if dotted(node):
        bindings = reaching(source, node)
        value = bindings[0].whole if len(bindings) == 1 else None
        return value is not None and not dotted(value) and _uniform(source, value)
    while isinstance(node, ast.Call) and method(node) == "item" and isinstance(node.func, ast.Attribute):
        node = node.func.value
    if not isinstance(node, ast.Call) or any(constant(each) not in (0, 1, 0.0, 1.0) for each in node.args):
        return False
    return library(source, node) in _UNIFORM or (
        not library(source, node) and method(node) in ("random", "rand", "uniform")
    )


def _branches(source: Source, node: ast.If | ast.IfExp) -> tuple[list[ast.AST], list[ast.AST]]:
    """What is done in the two cases; without an else, what follows a return."""
    if isinstance(node, ast.IfExp):
        return [node.body], [node.orelse]
    if node.orelse:
        return list(node.body), list(node.orelse)
    block = next((b for b in _blocks(parents(source).get(node)) if node in b), [])
    leaves = bool(node.body) and isinstance(node.body[-1], ast.Return)
    return list(node.body), list(block[block.index(node) + 1 :]) if leaves and node in block else []


def _blocks(parent: ast.AST | None) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        statements = getattr(parent, name, None)
        if isinstance(statements, list):
            yield statements


def _picks_best(source: Source, branch: list[ast.AST]) -> bool:
    inside = [node for each in branch for node in ast.walk(each)]
    return any(
        method(each) == "argmax" or library(source, each).endswith(".argmax") or _place_of_max(each) for each in inside
    )


def _place_of_max(node: ast.AST) -> bool:
    """`q.max(1).indices`, `q.max(1)[1]`."""
    if isinstance(node, ast.Attribute) and node.attr == "indices":
        return method(node.value) == "max"
    return isinstance(node, ast.Subscript) and constant(node.slice) == 1 and method(node.value) == "max"


def _picks_any(source: Source, branch: list[ast.AST]) -> bool:
    for each in (node for one in branch for node in ast.walk(one)):
        if isinstance(each, ast.Call):
            on = each.func.value if isinstance(each.func, ast.Attribute) else each.func
            if method(each) == "sample" and dotted(on).endswith("action_space"):
                return True
            if method(each) in _RANDOM and (
                library(source, each).startswith(("random.", "numpy.random", "torch.")) or dotted(on)
            ):
                return True
    return False


def _falls(source: Source, chance: ast.expr) -> bool:
    """Whether some line of the file makes the number smaller: `eps *= 0.99`, `eps = max(low, eps - step)`."""
    last = dotted(chance).rpartition(".")[2]
    for node in ast.walk(source.tree):
        if isinstance(node, ast.AugAssign) and dotted(node.target).rpartition(".")[2] == last:
            value = number(source, node.value)
            if isinstance(node.op, ast.Sub) or (isinstance(node.op, ast.Mult) and value is not None and 0 < value < 1):
                return True
        elif isinstance(node, ast.Assign) and dotted(node.targets[0]).rpartition(".")[2] == last:
            fades = any(_fades(source, each) for each in ast.walk(node.value))
            if fades or _smaller(source, node.value, last):
                return True
    return False


def _fades(source: Source, node: ast.AST) -> bool:
    """`(high - low) * exp(-t / decay)`."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)):
        return False
    for scale, curve in ((node.left, node.right), (node.right, node.left)):
        if isinstance(curve, ast.Call) and library(source, curve).rpartition(".")[2] == "exp" and len(curve.args) == 1:
            value = number(source, scale)
            ends = [number(source, each) for each in (scale.left, scale.right)] if isinstance(scale, ast.BinOp) else []
            if value is None and isinstance(scale, ast.BinOp) and isinstance(scale.op, ast.Sub) and None not in ends:
                high, low = ends
                value = high - low if high is not None and low is not None else None
            return value is not None and value > 0 and factors(curve.args[0])[0] < 0
    return False


def _smaller(source: Source, node: ast.expr, last: str) -> bool:
    for each in ast.walk(node):
        if isinstance(each, ast.BinOp) and dotted(each.left).rpartition(".")[2] == last:
            value = number(source, each.right)
            if isinstance(each.op, ast.Sub) or (isinstance(each.op, ast.Mult) and value is not None and 0 < value < 1):
                return True
    return False
