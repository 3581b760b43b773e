"""Parts of a step that went through a memory: told by their place in what was put in, and in what was taken out."""

from __future__ import annotations

import ast
from functools import lru_cache

from rldebug.evidence.source import Source
from rldebug.syntax.bindings import Binding, functions, reaching
from rldebug.syntax.flow import PUTS, held
from rldebug.syntax.names import constant, dotted, library, method, receiver
from rldebug.syntax.places import calls
from rldebug.syntax.stepping import roles, steps

FLAGS = frozenset({"terminated", "truncated", "done"})
ENDS = FLAGS | {"end"}
"""`end`: such a flag, or its opposite; which of the two, the memory knows."""

_STORES = (*PUTS, "store", "remember", "save", "record", "memorize")
_KEEPS = (
    *("to", "float", "double", "bool", "int", "long", "astype", "unsqueeze", "squeeze", "view", "reshape", "flatten"),
    *("cuda", "cpu", "clone", "copy", "detach"),
)
_WRAPS = (
    *("torch.tensor", "torch.as_tensor", "torch.from_numpy", "torch.FloatTensor", "torch.Tensor", "torch.BoolTensor"),
    *("torch.stack", "torch.cat", "torch.unsqueeze", "torch.squeeze", "torch.reshape", "numpy.array", "numpy.asarray"),
    *("numpy.stack", "numpy.vstack", "numpy.float32", "numpy.logical_or", "torch.logical_or"),
)


def part(source: Source, node: ast.expr, depth: int = 8) -> set[str]:
    """observation, reward, terminated, truncated, done: which parts of a step an expression holds as they are.
    Also after it was stored and taken out again, made into a tensor, or joined with another flag."""
    if depth <= 0:
        return set()
    if isinstance(node, ast.BoolOp) or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr)):
        inside = node.values if isinstance(node, ast.BoolOp) else [node.left, node.right]
        told = [part(source, each, depth - 1) for each in inside]
        return {"done"} if all(each & FLAGS for each in told) else set()
    if isinstance(node, ast.Call):
        return _of_call(source, node, depth)
    if isinstance(node, ast.ListComp):
        return _of_rows(source, node)
    if not dotted(node):
        return set()
    found = set(roles(source, node))
    for binding in reaching(source, node):
        if binding.how == "assigned" and binding.path:
            found |= _taken_out(source, binding)
        elif binding.whole is not None:
            found |= part(source, binding.whole, depth - 1)
        elif isinstance(binding.node, ast.arg):
            for value, by in held(source, node):
                found |= part(source, value, depth - 1) if by is None else set()
    return found


def _of_call(source: Source, call: ast.Call, depth: int) -> set[str]:
    name, inner = library(source, call), receiver(call)
    if (name in _WRAPS or dotted(call.func) in ("float", "int", "bool", "list")) and call.args:
        told = [part(source, each, depth - 1) for each in call.args if not isinstance(each, ast.Starred)]
        if name.endswith("logical_or"):
            return {"done"} if told and all(each & FLAGS for each in told) else set()
        return told[0] if told else set()
    if not name and method(call) in _KEEPS and inner is not None:
        return part(source, inner, depth - 1)
    return set()


def _of_rows(source: Source, node: ast.ListComp) -> set[str]:
    """`[row[4] for row in batch]`."""
    taken = node.elt
    layouts = stored(source)
    while isinstance(taken, ast.Call) and taken.args and (library(source, taken) in _WRAPS or dotted(taken.func)):
        taken = taken.args[0]
    place = constant(taken.slice) if isinstance(taken, ast.Subscript) else None
    if isinstance(place, int) and len(layouts) == 1:
        return {told for told in [next(iter(layouts.values())).get(place, "")] if told}
    return set()


@lru_cache(maxsize=512)
def stored(source: Source) -> dict[int, dict[int, str]]:
    """How many parts are put into a memory at once -> place -> which part; only where all that put so many agree."""
    found: dict[int, dict[int, str]] = {}
    torn: set[int] = set()
    if not steps(source):
        return {}
    for call in calls(source):
        if method(call) not in _STORES or not call.args:
            continue
        given = call.args
        whole = len(given) == 1 and not functions(source).get(method(call))  # a list, a deque: it stays what it is
        if len(given) == 1 and isinstance(given[0], ast.Tuple | ast.List):
            given = given[0].elts
        elif len(given) == 1 and isinstance(given[0], ast.Call) and dotted(given[0].func)[:1].isupper():
            given = given[0].args  # Transition(s, a, r, s2, done)
        if len(given) < 4 or any(isinstance(each, ast.Starred) for each in given):
            continue
        layout = {place: next(iter(told)) for place, each in enumerate(given) if len(told := _fresh(source, each)) == 1}
        for place, role in layout.items():
            if role in FLAGS and not whole and not _kept_as_it_is(source, call, place):
                layout[place] = "end"
        if "reward" not in layout.values():
            continue
        if found.setdefault(len(given), layout) != layout:
            torn.add(len(given))
    return {size: layout for size, layout in found.items() if size not in torn}


def _kept_as_it_is(source: Source, call: ast.Call, place: int) -> bool:
    """Whether the functions of this file that fill a memory put a part away without computing with it: many keep
    `1 - done`. Of a memory from elsewhere nobody can tell."""
    known = functions(source).get(method(call), ())
    for function in known:
        names = [each.arg for each in [*function.args.posonlyargs, *function.args.args]][1:]
        if len(call.args) == 1:  # a row in one piece
            used = [names[0]] if names else []
        elif place < len(names):
            used = [names[place]]
        elif function.args.vararg is not None:
            used = [function.args.vararg.arg]
        else:
            return False
        for node in ast.walk(function):
            if isinstance(node, ast.BinOp | ast.UnaryOp | ast.Compare | ast.IfExp) and any(
                isinstance(each, ast.Name) and each.id in used for each in ast.walk(node)
            ):
                return False
    return bool(known)


def _fresh(source: Source, node: ast.expr, depth: int = 6) -> set[str]:
    """The part of a step that is put in; not what was taken out before."""
    if isinstance(node, ast.BoolOp):
        return {"done"} if all(_fresh(source, each, depth - 1) & FLAGS for each in node.values) else set()
    if isinstance(node, ast.Call) and (
        dotted(node.func) in ("float", "int", "bool") or library(source, node) in _WRAPS
    ):
        return _fresh(source, node.args[0], depth - 1) if node.args else set()
    if not dotted(node) or depth <= 0:
        return set()
    found = set(roles(source, node))
    for binding in reaching(source, node):
        if isinstance(binding.whole, ast.BoolOp | ast.Call):
            found |= _fresh(source, binding.whole, depth - 1)
    return found


def _taken_out(source: Source, binding: Binding) -> set[str]:
    statement = binding.node
    if not (isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Tuple)):
        return set()
    if any(each.statement is statement for each in steps(source)):
        return set()
    layout = stored(source).get(len(statement.targets[0].elts), {})
    told = layout.get(binding.path[0], "") if len(binding.path) == 1 else ""
    return {told} if told else set()
