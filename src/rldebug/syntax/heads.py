"""The last operation that made a tensor: through names, networks of this file, and whatever only changes its shape."""

from __future__ import annotations

import ast

from rldebug.evidence.source import Source
from rldebug.syntax.bindings import bases
from rldebug.syntax.flow import held, returned
from rldebug.syntax.kinds import kind, module_class
from rldebug.syntax.names import library, method, receiver
from rldebug.syntax.places import Function

_SHAPES = frozenset(
    {"view", "reshape", "squeeze", "unsqueeze", "flatten", "float", "double", "to", "cpu", "cuda", "clone", "detach"}
    | {"contiguous", "permute", "transpose", "expand", "repeat", "requires_grad_", "half", "type"}
)
_METHODS = frozenset({"softmax", "log_softmax", "sigmoid", "tanh", "exp", "relu", "clamp", "log", "softplus"})
_DEEPEST = 14


def last_operations(source: Source, expression: ast.expr) -> set[str]:
    """linear, softmax, log_softmax, sigmoid, tanh, exp, relu …; `?` among them where a way could not be followed."""
    return _last(source, expression, _DEEPEST)


def _last(source: Source, node: ast.expr, depth: int) -> set[str]:
    if depth <= 0:
        return {"?"}
    if isinstance(node, ast.Call):
        return _of_call(source, node, depth - 1)
    if isinstance(node, ast.Subscript):
        # x[0] of a tensor is still it; of several things that a network gives, one.
        return _last(source, node.value, depth - 1) if kind(source, node.value) == "tensor" else {"?"}
    if isinstance(node, ast.Name | ast.Attribute | ast.IfExp | ast.NamedExpr):
        values = list(held(source, node))
        if not values or any(by is not None and (by.how != "assigned" or by.path) for _, by in values):
            return {"?"}
        return set().union(*(_last(source, each, depth - 1) for each, _ in values))
    return {"arithmetic"} if isinstance(node, ast.BinOp | ast.UnaryOp) else {"?"}


def _of_call(source: Source, call: ast.Call, depth: int) -> set[str]:
    name = library(source, call)
    if name.startswith("torch.nn.functional.") or (name.startswith("torch.") and name.count(".") == 1):
        last = name.rpartition(".")[2]
        if last in ("squeeze", "unsqueeze", "flatten", "reshape"):
            return _last(source, call.args[0], depth) if call.args else {"?"}
        return {last}
    if name:
        return {"?"}
    inner = receiver(call)
    if inner is not None and kind(source, inner) != "module":
        if method(call) in _SHAPES:
            return _last(source, inner, depth)
        if method(call) in _METHODS:
            return {method(call)}
    if kind(source, call.func) == "module":
        return _of_network(source, call.func, depth)
    if inner is not None and kind(source, inner) == "module" and method(call) == "forward":
        return _of_network(source, inner, depth)
    values = [each for each, _ in held(source, call)]
    return set().union(*(_last(source, each, depth) for each in values)) if values else {"?"}


def _of_network(source: Source, network: ast.expr, depth: int) -> set[str]:
    owner = module_class(source, network)
    if owner is not None:
        for each in (owner, *bases(source, owner)):
            forward = next((n for n in each.body if isinstance(n, Function) and n.name == "forward"), None)
            if forward is not None:
                values = returned(forward)
                return set().union(*(_last(source, value, depth) for value in values)) if values else {"?"}
        return {"?"}
    made = _made(source, network, depth)
    return set().union(*(_of_layer(source, each, depth) for each in made)) if made else {"?"}


def _made(source: Source, node: ast.expr, depth: int) -> list[ast.Call]:
    """The constructors of torch.nn that an expression may stand for."""
    if depth <= 0:
        return []
    if isinstance(node, ast.Call):
        if library(source, node).startswith("torch.nn."):
            return [node]
        inner = receiver(node)
        if inner is not None and method(node) in _SHAPES | {"eval", "train"}:
            return _made(source, inner, depth - 1)
        if library(source, node) in ("copy.deepcopy", "torch.compile") and node.args:
            return _made(source, node.args[0], depth - 1)
    return [one for each, _ in held(source, node) for one in _made(source, each, depth - 1)]


def _of_layer(source: Source, made: ast.Call, depth: int) -> set[str]:
    name = library(source, made).rpartition(".")[2]
    if name != "Sequential":
        return {_LAYERS.get(name, name.lower())}
    for each in reversed(made.args):
        if isinstance(each, ast.Starred):
            return {"?"}
        inner = [each] if isinstance(each, ast.Call) and library(source, each) else _made(source, each, depth - 1)
        if not inner or not all(isinstance(one, ast.Call) for one in inner):
            return {"?"}
        told = set().union(*(_of_layer(source, one, depth - 1) for one in inner if isinstance(one, ast.Call)))
        if told - {"flatten", "unflatten", "identity", "dropout"}:
            return told
    return {"?"}


_LAYERS = {"LazyLinear": "linear", "LogSoftmax": "log_softmax", "ReLU": "relu", "LeakyReLU": "leaky_relu"}
