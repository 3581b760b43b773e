"""A value network ends in an activation that bounds what it can say."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import bases
from rldebug.syntax.flow import computed_from, meant, returned
from rldebug.syntax.kinds import kind, module_class
from rldebug.syntax.layers import layer
from rldebug.syntax.names import dotted, library, method, receiver
from rldebug.syntax.places import Function, calls
from rldebug.syntax.stepping import roles
from rldebug.syntax.sums import factors, terms

_ERRORS = tuple(f"torch.nn.functional.{each}" for each in ("mse_loss", "smooth_l1_loss", "huber_loss", "l1_loss"))
_OBJECTS = ("torch.nn.MSELoss", "torch.nn.SmoothL1Loss", "torch.nn.HuberLoss", "torch.nn.L1Loss")
_BOUNDS = {"Tanh": "-1 … 1", "Sigmoid": "0 … 1", "Softmax": "0 … 1", "ReLU": "0 and above", "LogSoftmax": "below 0"}
_FUNCTIONS = {"tanh": "Tanh", "sigmoid": "Sigmoid", "softmax": "Softmax", "relu": "ReLU"}
_SAME = ("squeeze", "view", "reshape", "flatten", "gather", "float", "unsqueeze")


@dataclass(frozen=True, kw_only=True)
class ValueEndsInActivation(Rule):
    """A value network ends in an activation that bounds what it can say.

    ## What it checks
    A loss compares the output of a network with `reward + discount · value`, and the last thing that the network does
    is a Tanh, Sigmoid, Softmax or ReLU. Read from the source.

    ## Why it matters
    Values are as large as returns: a Tanh cannot say 50, a ReLU cannot say -3, and where it is off no gradient passes.
    The error stays, whatever is learned.

    ## Likely causes
    1. The layers were copied from the policy, or the activation is added in a loop after every layer. Confirm: print
       `net`.

    ## What to try first
    A linear last layer.

    ## When it is fine
    Where every return lies within the bounds; rewards of 0 and above for a ReLU.

    ## References
    Sutton & Barto, *Reinforcement learning*, 9.7.
    """

    code: ClassVar[str] = "NET647"
    name: ClassVar[str] = "value-ends-in-activation"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("NET300",)

    def check(self, evidence: Source) -> Iterator[Finding]:
        told: set[ast.expr] = set()
        for guess, goal in _compared(evidence):
            network = _answered(evidence, guess)
            last = _last(evidence, network) if network is not None else None
            if network is None or last is None or last[1] in told or not _is_bootstrapped(evidence, goal):
                continue
            told.add(last[1])
            yield self.finding(
                f"{dotted(network)} learns values and ends in {last[0]}: it can only say {_BOUNDS[last[0]]}",
                where=evidence.at(last[1]),
                seen=f"{evidence.quoted(last[1])} at the end, compared with {evidence.quoted(goal)}",
                expected="a linear last layer",
                help=f"leave the {last[0]} out",
                confidence=0.88,
            )


def _compared(source: Source) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Both sides of every error, each as the guess once."""
    for call in calls(source):
        pair: list[ast.expr] = []
        if library(source, call) in _ERRORS or library(source, meant(source, call.func)) in _OBJECTS:
            pair = call.args[:2]
        elif method(call) in ("pow", "square") and isinstance(inner := receiver(call), ast.BinOp):
            pair = [inner.left, inner.right] if isinstance(inner.op, ast.Sub) else []
        if len(pair) == 2:
            yield pair[0], pair[1]
            yield pair[1], pair[0]


def _answered(source: Source, guess: ast.expr) -> ast.expr | None:
    """The network whose output an expression is."""
    node = meant(source, guess)
    while isinstance(node, ast.Subscript) or (isinstance(node, ast.Call) and method(node) in _SAME):
        inner = node.value if isinstance(node, ast.Subscript) else receiver(node)
        node = meant(source, inner) if inner is not None else ast.Constant(None)
    if isinstance(node, ast.Call) and kind(source, node.func) == "module" and dotted(node.func):
        return node.func
    return None


def _last(source: Source, network: ast.expr) -> tuple[str, ast.expr] | None:
    """The bounding activation that a network ends in, and where it is written."""
    made = meant(source, network)
    if library(source, made) == "torch.nn.Sequential" and isinstance(made, ast.Call):
        last = made.args[-1] if made.args else made
        return (layer(source, last), last) if layer(source, last) in _BOUNDS else None
    owner = module_class(source, network)
    for each in (owner, *bases(source, owner)) if owner is not None else ():
        forward = next((node for node in each.body if isinstance(node, Function) and node.name == "forward"), None)
        values = returned(forward) if forward is not None else ()
        if forward is not None:
            return _ends(source, values[0]) if len(values) == 1 else None
    return None


def _ends(source: Source, value: ast.expr) -> tuple[str, ast.expr] | None:
    node = meant(source, value)
    while isinstance(node, ast.Call) and method(node) in _SAME and not library(source, node):
        node = meant(source, receiver(node) or value)
    if isinstance(node, ast.Call):
        name = library(source, node).rpartition(".")[2] or method(node)
        if name in _FUNCTIONS and (library(source, node).startswith("torch") or not library(source, node)):
            return _FUNCTIONS[name], node
        if kind(source, node.func) == "module" and isinstance(node.func, ast.Attribute):
            made = meant(source, node.func)
            last = made.args[-1] if isinstance(made, ast.Call) and made.args else made
            if library(source, made) == "torch.nn.Sequential" and layer(source, last) in _BOUNDS:
                return layer(source, last), last
            if layer(source, made) in _BOUNDS:
                return layer(source, made), node
    return None


def _is_bootstrapped(source: Source, goal: ast.expr) -> bool:
    """`reward + discount * value of a network`, somewhere in what a target is computed from."""
    for each in computed_from(source, goal):
        if isinstance(each, ast.BinOp) and isinstance(each.op, ast.Add):
            parts = [node for _, node in terms(each)]
            products = [factors(node)[1] for node in parts]
            ahead = [one for product in products if len(product) > 1 for one in product]
            if any(_answered(source, one) is not None for one in ahead):
                return True
            if any("reward" in roles(source, node) for node in parts) and ahead:
                return True
    return False
