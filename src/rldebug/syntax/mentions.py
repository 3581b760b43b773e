"""Every place where a network is named, and what is done with it there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Literal

from rldebug.evidence.source import Source
from rldebug.syntax.bindings import bound_in, called, calls_of, class_of_method, given_for, parameters
from rldebug.syntax.kinds import kind, module_class
from rldebug.syntax.names import library, method
from rldebug.syntax.optimised import key
from rldebug.syntax.places import Function, function_of, loops_of, parents, without_graph

Use = Literal["bound", "asked", "harmless", "other"]
_HARMLESS = (
    *("eval", "train", "training", "to", "cuda", "cpu", "float", "half", "requires_grad_", "apply", "share_memory"),
    *("zero_grad", "compile", "load_state_dict"),
)


def mentions(source: Source, name: str) -> Iterator[tuple[ast.expr, Use]]:
    """Where a network is named, told by `optimised.key`: bound, asked for an answer, set up, or anything else."""
    last = name.rpartition(".")[2].rpartition(":")[2]
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Name | ast.Attribute):
            continue
        if key(source, node) == name:
            yield from _uses(source, node)
        elif isinstance(node, ast.Attribute) and node.attr == last and isinstance(name, str) and ":" in name:
            yield node, "other"  # agent.target, from outside of the class


def _uses(source: Source, node: ast.Name | ast.Attribute, depth: int = 3) -> Iterator[tuple[ast.expr, Use]]:
    """The use of a network; where it is handed to a function of this file, those of the parameter there."""
    parent = parents(source).get(node)
    function = called(source, parent) if isinstance(parent, ast.Call) and node in parent.args else None
    parameter = _parameter(source, function, parent, node) if function and isinstance(parent, ast.Call) else ""
    if function is None or not parameter or depth <= 0:
        yield node, _use(source, node, parent)
        return
    for each in ast.walk(function):
        if isinstance(each, ast.Name) and each.id == parameter:
            yield from _uses(source, each, depth - 1)


def _parameter(source: Source, function: Function, call: ast.Call, node: ast.expr) -> str:
    """What a function calls what it is handed, where it never calls anything else so."""
    names = [each.arg for each in parameters(function) if given_for(function, each.arg, call) is node]
    return names[0] if len(names) == 1 and len(bound_in(source, function).get(names[0], ())) == 1 else ""


def _use(source: Source, node: ast.Name | ast.Attribute, parent: ast.AST | None) -> Use:
    if isinstance(node.ctx, ast.Store):
        return "bound"
    if isinstance(parent, ast.Call) and parent.func is node:
        return "asked"
    if isinstance(parent, ast.Attribute):
        if parent.attr == "forward":
            return "asked"
        if parent.attr in _HARMLESS:
            return "harmless"
        above = parents(source).get(parent)
        if isinstance(above, ast.Call) and above.func is parent and (does := _own_call(source, node, above)):
            return does
        if parent.attr in ("parameters", "buffers") and isinstance(above, ast.Call):
            loop = parents(source).get(above)
            # for p in target.parameters(): p.requires_grad = False
            if isinstance(loop, ast.For) and all(_freezes(each) for each in loop.body):
                return "harmless"
    return "other"


def _own_call(source: Source, node: ast.expr, call: ast.Call) -> Use | None:
    """A part of the network, or a method that its class in this file has: asked where the answer is used; a call that
    is given nothing and gives nothing concerns only the network itself."""
    if kind(source, call.func) == "module":
        return "asked"
    owner = module_class(source, node)
    own = [] if owner is None else [each for each in owner.body if isinstance(each, Function)]
    if method(call) not in [each.name for each in own]:
        return None
    if isinstance(parents(source).get(call), ast.Expr):
        return None if call.args or call.keywords else "harmless"
    return "asked"


def _freezes(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Assign):
        target = statement.targets[0]
        return isinstance(target, ast.Attribute) and target.attr == "requires_grad"
    return isinstance(statement, ast.Expr) and method(statement.value) == "requires_grad_"


def without_gradient(source: Source, node: ast.AST) -> bool:
    """Whether what is asked there is cut off: by no_grad around it, or by detach() behind it."""
    if without_graph(source, node):
        return True
    up = parents(source)
    while isinstance(up.get(node), ast.Attribute | ast.Call | ast.Subscript):
        node = up[node]
        if method(node) in ("detach", "item", "numpy", "tolist"):
            return True
    return False


def in_setup(source: Source, node: ast.AST, depth: int = 3) -> bool:
    """Whether a statement runs once, when things are made: in `__init__`, or in a script before its loops."""
    function = function_of(source, node)
    if loops_of(source, node) or depth <= 0:
        return False
    if function is None or function.name == "__init__":
        return True
    calls = calls_of(source, function)
    if calls:
        return all(in_setup(source, each, depth - 1) for each in calls)
    return class_of_method(source, function) is None and _makes(source, function)


def _makes(source: Source, function: ast.AST) -> bool:
    """Whether a function makes optimizers itself: then it holds the program, and what is before its loops is set-up."""
    return any(library(source, each).startswith("torch.optim.") for each in ast.walk(function))
