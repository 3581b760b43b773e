"""Flags that are passed and ignored: a function of the program that never looks at one of its parameters, though a call
gives it another value than the one it has by itself. Read off the source, when the program has ended."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_KEPT = 32


@dataclass(frozen=True)
class Flag:
    name: str
    function: str
    default: bool
    file: str
    line: int  # of the function
    called: int  # line of a call that gives the other value


def ignored_flags(sources: Mapping[str, str]) -> list[Flag]:
    trees = {}
    for file, source in sources.items():
        try:
            trees[file] = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    functions = [(file, node) for file, tree in trees.items() for node in _functions(tree)]
    names = [node.name for _, node in functions]
    calls = [node for tree in trees.values() for node in ast.walk(tree) if isinstance(node, ast.Call)]
    found = []
    for file, node in functions:
        if names.count(node.name) > 1 or _only_stands_in(node):
            continue  # one of a family: others may look at it
        for name, default in _flags(node):
            if _looked_at(node, name):
                continue
            line = next((each.lineno for each in calls if _gives(each, node.name, name) is (not default)), None)
            if line is not None:
                found.append(Flag(name, node.name, default, file, node.lineno, line))
    return found[:_KEPT]


def _functions(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and all(_harmless(each) for each in node.decorator_list):
            yield node


def _harmless(decorator: ast.expr) -> bool:
    """Those of torch hand everything on as it is."""
    return ast.unparse(decorator).removesuffix("()") in ("torch.no_grad", "th.no_grad", "torch.inference_mode")


def _only_stands_in(node: ast.FunctionDef) -> bool:
    return all(isinstance(each, (ast.Pass, ast.Expr, ast.Raise)) for each in node.body)


def _flags(node: ast.FunctionDef) -> Iterator[tuple[str, bool]]:
    """Parameters that are True or False unless given."""
    plain = [*node.args.posonlyargs, *node.args.args]
    last = plain[len(plain) - len(node.args.defaults) :]
    pairs: list[tuple[ast.arg, Any]] = list(zip(last, node.args.defaults, strict=True))
    pairs += list(zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True))
    for argument, default in pairs:
        if isinstance(default, ast.Constant) and isinstance(default.value, bool):
            yield argument.arg, default.value


def _looked_at(node: ast.FunctionDef, name: str) -> bool:
    inside = [each for part in node.body for each in ast.walk(part)]
    if any(isinstance(each, ast.Name) and each.id in ("locals", "eval", "exec") for each in inside):
        return True
    return any(isinstance(each, ast.Name) and each.id == name for each in inside)


def _gives(call: ast.Call, function: str, name: str) -> bool | None:
    called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", None)
    if called != function:
        return None
    for each in call.keywords:
        if each.arg == name and isinstance(each.value, ast.Constant) and isinstance(each.value.value, bool):
            return each.value.value
    return None
