"""The optimizers of a program: what each holds, and where gradients are made, clipped, cleared and used."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from rldebug.evidence.source import Source
from rldebug.syntax.bindings import Binding, bound_in
from rldebug.syntax.flow import held
from rldebug.syntax.kinds import kind
from rldebug.syntax.names import argument, dotted, library, method, receiver
from rldebug.syntax.places import Function, above, calls, class_of, parents, scope_of

What = Literal["backward", "clip", "clear", "step"]
_CLIPS = ("torch.nn.utils.clip_grad_norm_", "torch.nn.utils.clip_grad_value_", "torch.nn.utils.clip_grad_norm")


@dataclass(frozen=True)
class Optimizer:
    """One that is made in this file and has a name."""

    name: str  # opt, self.opt
    made: ast.Call
    owner: ast.AST  # the class of `self.opt`, the function or module of others

    @property
    def parameters(self) -> ast.expr | None:
        return argument(self.made, 0, "params")


@lru_cache(maxsize=512)
def optimizers(source: Source) -> tuple[Optimizer, ...]:
    found: dict[ast.Call, Optimizer] = {}
    for scope in [source.tree, *(node for node in ast.walk(source.tree) if isinstance(node, Function))]:
        for places in bound_in(source, scope).values():
            for each in places:
                call = _made(source, each)
                if call is not None:
                    owner = class_of(source, call) if each.name.startswith("self.") else scope
                    found.setdefault(call, Optimizer(each.name, call, owner or scope))
    return tuple(found.values())


def _made(source: Source, binding: Binding) -> ast.Call | None:
    value = binding.whole
    if isinstance(value, ast.Call) and library(source, value).startswith("torch.optim."):
        return value if kind(source, value) == "optimizer" else None
    return None


def uses(source: Source, optimizer: Optimizer) -> Iterator[ast.expr]:
    """Every place where it is read by its name, in the class or the function that holds it."""
    for node in ast.walk(optimizer.owner):
        if isinstance(node, ast.Name | ast.Attribute) and dotted(node) == optimizer.name:
            yield from [node] if isinstance(node.ctx, ast.Load) else []


def handed_over(source: Source, optimizer: Optimizer) -> bool:
    """Whether it is read otherwise than by a dot: as an argument, in a list, by another name."""
    return any(not isinstance(parents(source).get(each), ast.Attribute) for each in uses(source, optimizer))


def steps_of(source: Source, optimizer: Optimizer) -> list[ast.Call]:
    """The calls of its step(), in the whole file, by its name."""
    return [
        each for each in calls(source) if method(each) == "step" and dotted(receiver(each) or each) == optimizer.name
    ]


def modules_in(source: Source, parameters: ast.expr | None) -> list[str] | None:
    """The networks whose parameters() are in an expression, as they are called there; None where something else is."""
    found = networks_in(source, parameters)
    return None if found is None else [dotted(each) for each in found]


def networks_in(source: Source, parameters: ast.expr | None, depth: int = 8) -> list[ast.expr] | None:
    """The same as expressions."""
    if parameters is None or depth <= 0:
        return None
    if isinstance(parameters, ast.Call):
        if method(parameters) == "parameters" and not library(source, parameters):
            network = receiver(parameters)
            return [network] if network is not None and dotted(network) else None
        if dotted(parameters.func) in ("list", "tuple", "iter") or library(source, parameters) == "itertools.chain":
            return _all(source, parameters.args, depth)
    if isinstance(parameters, ast.BinOp) and isinstance(parameters.op, ast.Add):
        return _all(source, [parameters.left, parameters.right], depth)
    if isinstance(parameters, ast.List | ast.Tuple):
        values = [each.value if isinstance(each, ast.Starred) else each for each in parameters.elts]
        groups = [_group(each) for each in values]
        return _all(source, [group or value for group, value in zip(groups, values, strict=True)], depth)
    if isinstance(parameters, ast.Name | ast.Attribute):
        values = [each for each, _ in held(source, parameters)]
        return networks_in(source, values[0], depth - 1) if len(values) == 1 else None
    return None


def _all(source: Source, parts: list[ast.expr], depth: int) -> list[ast.expr] | None:
    found: list[ast.expr] = []
    for each in parts:
        told = networks_in(source, each, depth - 1)
        if told is None:
            return None
        found += told
    return found


def _group(node: ast.expr) -> ast.expr | None:
    """The parameters of `{"params": …, "lr": …}`."""
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and key.value == "params":
                return value
    return None


@dataclass(frozen=True)
class Event:
    """Something that happens to gradients in a block of statements."""

    what: What
    call: ast.Call
    place: int  # in the block


def event(source: Source, call: ast.Call) -> What | None:
    name = library(source, call)
    if name in _CLIPS:
        return "clip"
    if name:
        return None
    last = method(call)
    if last == "backward":
        return "backward"
    if last == "zero_grad":
        return "clear"
    if last == "step" and kind(source, receiver(call)) == "optimizer":
        return "step"
    return None


def events(source: Source, block: list[ast.stmt]) -> list[Event]:
    """In the order they run, of the statements of one block themselves: not of the loops and branches in it."""
    found = []
    for place, statement in enumerate(block):
        if isinstance(statement, ast.Expr | ast.Assign | ast.AnnAssign) and isinstance(statement.value, ast.Call):
            what = event(source, statement.value)
            if what is not None:
                found.append(Event(what, statement.value, place))
    return found


def blocks(source: Source) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(source.tree):
        for name in ("body", "orelse", "finalbody"):
            statements = getattr(node, name, None)
            if isinstance(statements, list) and statements and isinstance(statements[0], ast.stmt):
                yield statements


def backward_calls(source: Source) -> Iterator[ast.Call]:
    """`loss.backward()`, and `accelerator.backward(loss)`."""
    return (each for each in calls(source) if method(each) == "backward" and not library(source, each))


def inside_closure(source: Source, node: ast.AST) -> bool:
    """Whether a node stands in a function that is defined in a function: what an optimizer may call by itself."""
    around = [each for each in above(source, node) if isinstance(each, Function | ast.Lambda)]
    return len(around) > 1 or (bool(around) and isinstance(around[0], ast.Lambda))


def same_scope(source: Source, one: ast.AST, other: ast.AST) -> bool:
    return scope_of(source, one) is scope_of(source, other)
