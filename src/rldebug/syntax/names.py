"""Names as the libraries have them: `F.mse_loss` is `torch.nn.functional.mse_loss`, however it was imported."""

from __future__ import annotations

import ast
from functools import lru_cache

from rldebug.evidence.source import Source

_SAME = {
    "gym": "gymnasium",
    "torch.nn.modules": "torch.nn",
    "stable_baselines3.common.distributions": "torch.distributions",
}


def dotted(node: ast.AST) -> str:
    """`self.net.actor` for such an expression; empty for calls, indices and the like."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([node.id, *reversed(parts)])


@lru_cache(maxsize=512)
def imports(source: Source) -> dict[str, str]:
    """Local name -> what it is called where it comes from."""
    found: dict[str, str] = {}
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                found[each.asname or each.name.split(".")[0]] = each.name if each.asname else each.name.split(".")[0]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for each in node.names:
                found[each.asname or each.name] = f"{node.module}.{each.name}"
    for node in source.tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            found.pop(node.name, None)  # of the same name, and in its place
    return found


def resolved(source: Source, node: ast.AST) -> str:
    """The full name of a function or class of a library; empty for what the file itself defines, and for methods."""
    name = dotted(node)
    first, _, rest = name.partition(".")
    home = imports(source).get(first)
    if home is None:
        return ""
    full = f"{home}.{rest}" if rest else home
    for shape, plain in _SAME.items():
        if full == shape or full.startswith(f"{shape}."):
            return plain + full[len(shape) :]
    return full


def library(source: Source, call: ast.AST) -> str:
    """The full name of what a call calls; empty for what is no function of an imported library."""
    return resolved(source, call.func) if isinstance(call, ast.Call) else ""


def method(call: ast.AST) -> str:
    """The name of the method that is called on something; also of functions that are reached by a dot."""
    return call.func.attr if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else ""


def receiver(call: ast.AST) -> ast.expr | None:
    """What a method is called on."""
    return call.func.value if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else None


def argument(call: ast.Call, place: int, *names: str) -> ast.expr | None:
    """An argument by its place or one of its names; None where it is not given, or hidden behind a star."""
    for each in call.keywords:
        if each.arg in names:
            return each.value
    if place < len(call.args) and not any(isinstance(each, ast.Starred) for each in call.args[: place + 1]):
        return call.args[place]
    return None


def constant(node: ast.AST | None) -> object:
    """The value of a literal, also of `-1`; None for others, and for None."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        value = node.operand.value
        return -value if isinstance(value, int | float) else None
    return None
