"""The value that became NaN first: followed through the assignments of the functions that were at work.

A value is the first if it holds NaN and nothing that it was computed from does. Where the loss is infinite, and only
the weights that it was used for are NaN, the first infinite one.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

from rldebug.evidence.crashes.expression import names_in, values_of
from rldebug.evidence.crashes.facts import Fact, fact_of, is_array, is_module, is_tensor, kind_of
from rldebug.evidence.crashes.source import called, place_of
from rldebug.syntax.names import argument
from rldebug.syntax.places import calls_in

_NAMES = 80  # of one frame that are looked at
_UNDEFINED = {
    "std": "a standard deviation",
    "var": "a variance",
    "log": "a logarithm",
    "log2": "a logarithm",
    "log10": "a logarithm",
    "log1p": "a logarithm",
    "sqrt": "a square root",
    "rsqrt": "a square root",
    "atanh": "an inverse tanh",
    "arctanh": "an inverse tanh",
    "acos": "an inverse cosine",
    "exp": "an exponential",
    "pow": "a power",
}


SPREADS = ("a standard deviation", "a variance")


def first_nan(frames: list[FrameType]) -> Fact | None:
    """Frames: the user's own, the outermost first, for what is passed to a function lies in its caller too."""
    for frame in frames:
        if told := _first(frame, "nan"):
            return told
    for frame in frames:
        # Masked logits are infinite and meant to be; a loss is not.
        infinite = any(_is_loss(value) and _holds(value, "inf") for value in frame.f_locals.values())
        if infinite and (told := _first(frame, "inf")):
            return told
    return None


def _first(frame: FrameType, odd: str) -> Fact | None:
    values = {name: value for name, value in list(frame.f_locals.items())[:_NAMES] if _can_be_nan(value)}
    broken = {name for name, value in values.items() if _holds(value, odd)}
    if not broken:
        return None
    lines = [(node, name, set(names)) for node, names in _assignments(frame) for name in names if name in broken]
    makers = [(node, name) for node, name, bound in lines if not _fed(node, frame, bound, odd)]
    # A network whose weights are NaN by now may have got them from this very loss.
    makers = makers or [
        (node, name)
        for node, name, bound in lines
        if (_undefined(node) or _of_one(node, frame, values[name])) and not _fed(node, frame, bound, odd, weights=False)
    ]
    if not makers:
        return None
    # Where the first is assigned twice: the last of the lines that can make NaN at all.
    name = makers[0][1]
    again = [node for node, other in makers if other == name]
    node = max(again, key=lambda each: (bool(_undefined(each)), each.lineno))
    told = _told(frame, node, name, values[name])
    grown = odd == "inf" and _squares(node)
    # Squared, large numbers overflow: that no operation is undefined for.
    by = [each for each in told["by"] if not (grown and each == "a power")] if told else []
    return told | {"odd": odd, "by": by, "grown": grown and not by} if told else None


def _squares(node: ast.stmt) -> bool:
    """Whether a line takes a positive power of something, or an error squared."""
    for each in ast.walk(node):
        if isinstance(each, ast.BinOp) and isinstance(each.op, ast.Pow):
            exponent: ast.expr | None = each.right
        elif isinstance(each, ast.Call):
            name = each.func.attr if isinstance(each.func, ast.Attribute) else getattr(each.func, "id", "")
            if name in ("square", "mse_loss"):
                return True
            exponent = each.args[-1] if name == "pow" and each.args else None
        else:
            continue
        if isinstance(exponent, ast.Constant) and isinstance(exponent.value, int | float) and exponent.value > 0:
            return True
    return False


def _can_be_nan(value: Any) -> bool:
    return (is_tensor(value) or is_array(value) or isinstance(value, float)) and not is_weight(value)


def is_weight(value: Any) -> bool:
    """What an optimizer changes: the line that made it has not made it NaN."""
    return is_module(value) or (is_tensor(value) and bool(value.requires_grad and value.is_leaf))


def _is_loss(value: Any) -> bool:
    return is_tensor(value) and value.grad_fn is not None and value.numel() == 1


def holds_nan(value: Any) -> bool:
    """A number, tensor or array that holds NaN, or a network with a weight that does."""
    return _holds(value, "nan")


def _holds(value: Any, odd: str) -> bool:
    if isinstance(value, float):
        return value != value if odd == "nan" else abs(value) == float("inf")
    fact = fact_of(value) or {}
    if is_module(value):
        return bool(fact.get("nonfinite"))
    return bool(fact.get(odd)) or any(each.get(odd) or each.get("value") == odd for each in fact.get("items", []))


def _assignments(frame: FrameType) -> Iterator[tuple[ast.stmt, list[str]]]:
    """The assignments of the function, in the order of its lines, with the names they bind."""
    function = _function(frame)
    inner = [each for each in ast.walk(function) if isinstance(each, ast.FunctionDef | ast.Lambda | ast.ClassDef)]
    hidden = {id(each) for scope in inner if scope is not function for each in ast.walk(scope)} if function else set()
    found: list[tuple[ast.stmt, list[str]]] = []
    for node in ast.walk(function):
        if id(node) in hidden:
            continue
        if isinstance(node, ast.Assign):
            names = [name for target in node.targets for name in names_in(ast.unparse(target))]
        elif isinstance(node, ast.AugAssign | ast.AnnAssign) and node.value is not None:
            names = names_in(ast.unparse(node.target))
        else:
            continue
        found.append((node, names))
    yield from sorted(found, key=lambda each: each[0].lineno)


def _function(frame: FrameType) -> ast.AST:
    code = frame.f_code
    tree = ast.parse("".join(linecache.getlines(code.co_filename)))
    for node in ast.walk(tree):
        # The first line of a decorated function is that of its decorator.
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            if first == code.co_firstlineno:
                return node
    return tree if code.co_name == "<module>" else ast.Module([], [])


def _fed(node: ast.stmt, frame: FrameType, bound: set[str], odd: str, *, weights: bool = True) -> bool:
    value = node.value if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) else None
    if value is None:
        return False
    # What it replaces, `x = x / x.std()`, is not there any more.
    names = [name for name in names_in(ast.unparse(value)) if name not in bound]
    # The weights are of later than an infinite loss.
    weights = weights and odd == "nan"
    return any(_holds(each, odd) for each in values_of(names, frame).values() if weights or not is_weight(each))


def _told(frame: FrameType, node: ast.stmt, name: str, value: Any) -> Fact:
    expression = getattr(node, "value", None)
    used = values_of(names_in(ast.unparse(expression)), frame) if expression is not None else {}
    file, line, by = frame.f_code.co_filename, node.lineno, _undefined(expression) if expression is not None else {}
    if not by and (inside := _undefined_inside(node, frame)):
        file, by = inside
    one, undefined = _of_one(node, frame, value), bool(by)
    if not one and _many(value) and not _divides_barely(by):
        # Of several numbers it is defined: what it was taken of held infinity or NaN, and is not there any more.
        by = {how: each for how, each in by.items() if how not in SPREADS and how != "a division"}
        if not by and undefined:
            return {}
    at = next(iter(by.values()), node).lineno  # type: ignore[attr-defined]
    return {
        "name": name,
        "file": frame.f_code.co_filename,
        "place": f"{Path(frame.f_code.co_filename).name}:{line}",
        "line": line,
        "source": linecache.getline(frame.f_code.co_filename, line).strip()[:200],
        "value": fact_of(value),
        "by": list(by),
        "at": {"file": file, "line": at, "place": f"{Path(file).name}:{at}"},
        "one": one,
        "network": any(is_module(each) for each in used.values()),
        "environment": any(kind_of(each) == "environment" for each in used.values()),
    }


def _of_one(node: ast.stmt, frame: FrameType, value: Any) -> bool:
    """Whether a standard deviation of a single number was taken to make it: in this line, or in what that calls."""
    by = _undefined(node)
    if not by and (inside := _undefined_inside(node, frame)):
        by = inside[1]
    taken = [call for how, call in by.items() if how in SPREADS and isinstance(call, ast.Call)]
    for call in taken:
        of = call.func.value if isinstance(call.func, ast.Attribute) else None
        if of is None or ast.unparse(of) in ("torch", "np", "numpy"):
            of = argument(call, 0, "input", "a")
        known = values_of([ast.unparse(of)], frame) if of is not None else {}
        sizes = [_size(each) for each in known.values() if is_tensor(each) or is_array(each)]
        if sizes and _undefined(node):
            return sizes[0] == 1
    shaped = (is_tensor(value) or is_array(value)) and len(value.shape) > 0
    return bool(taken) and shaped and _size(value) == 1


def _many(value: Any) -> bool:
    """Whether there are several numbers along each of its axes: a standard deviation may be over any of them."""
    return (is_tensor(value) or is_array(value)) and len(value.shape) > 0 and all(each > 1 for each in value.shape)


def _divides_barely(by: Mapping[str, ast.AST]) -> bool:
    """Whether something is divided by, `x / x.std()`, that nothing keeps away from 0."""
    node = by.get("a division")
    return isinstance(node, ast.BinOp) and not _guarded(node.right)


def _size(value: Any) -> int:
    return int(value.numel()) if is_tensor(value) else int(value.size)


def _undefined_inside(node: ast.stmt, frame: FrameType) -> tuple[str, dict[str, ast.AST]] | None:
    """The same in the user's own function that a line calls, with its file."""
    place = place_of(frame)
    for call in calls_in(node) if place is not None else ():
        callee = called(place, call) if place is not None else None
        if callee is not None and (by := _undefined(callee.scope)):
            return callee.source.file, by
    return None


def _undefined(expression: ast.AST) -> dict[str, ast.AST]:
    """The operations in it that give NaN or infinity for some numbers, and where: those that nothing guards first."""
    told: dict[str, list[ast.AST]] = {}
    for node in ast.walk(expression):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in _UNDEFINED:
                told.setdefault(_UNDEFINED[name], []).append(node)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            told.setdefault("a division", []).append(node)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            told.setdefault("a power", []).append(node)
    order = [*dict.fromkeys(_UNDEFINED.values()), "a division"]
    found = {how: min(told[how], key=_guarded) for how in sorted(told, key=order.index)}
    bare = {how: node for how, node in found.items() if how in SPREADS or not _guarded(node)}
    return bare or found


def _guarded(node: ast.AST) -> bool:
    """Whether its argument is kept in bounds: `x.clamp_min(1e-8).log()`, `log(1 - a ** 2 + 1e-6)`."""
    inside = [each for each in ast.walk(node) if each is not node]
    names = [each.attr if isinstance(each, ast.Attribute) else getattr(each, "id", "") for each in inside]
    added = [each for each in inside if isinstance(each, ast.BinOp) and isinstance(each.op, ast.Add)]
    small = [each for node in added for each in (node.left, node.right) if isinstance(each, ast.Constant)]
    return bool(small) or any(name.startswith(("clamp", "clip", "softplus", "maximum")) for name in names)
