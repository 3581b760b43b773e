"""How many axes a tensor has, where the text tells: (rows,) or (rows, 1)."""

from __future__ import annotations

import ast

from rldebug.evidence.source import Source
from rldebug.syntax.bindings import Binding, reaching
from rldebug.syntax.flow import given_back, held, put_in, unpacked
from rldebug.syntax.kinds import kind, module_class
from rldebug.syntax.names import argument, constant, dotted, library, method, receiver
from rldebug.syntax.numbers import number
from rldebug.syntax.running import running_sums
from rldebug.syntax.stepping import roles
from rldebug.syntax.transitions import FLAGS, part

_SAME = (
    *(
        "detach",
        "float",
        "double",
        "to",
        "clone",
        "clamp",
        "clip",
        "exp",
        "log",
        "sqrt",
        "cuda",
        "cpu",
        "abs",
        "neg",
        "pow",
    ),
    *("tanh", "contiguous", "type"),
)
_MAKES = ("torch.tensor", "torch.as_tensor", "torch.FloatTensor", "torch.Tensor", "torch.from_numpy", "numpy.array")
_FILLS = ("torch.zeros", "torch.ones", "torch.empty", "torch.rand", "torch.randn")
_ALONG = ("max", "min", "sum", "mean", "amax", "amin")


def rank(source: Source, node: ast.expr, depth: int = 10) -> int | None:
    """The number of axes, for tensors that have a row per sample; None where it is not known."""
    if depth <= 0:
        return None
    if isinstance(node, ast.Name | ast.Attribute):
        if isinstance(node, ast.Attribute) and node.attr == "values" and isinstance(node.value, ast.Call):
            return _along(source, node.value, depth - 1)
        values = [_stands_for(source, each) for each in reaching(source, node)]
        told = {None if each is None else rank(source, each, depth - 1) for each in values}
        return next(iter(told)) if len(told) == 1 else None
    if isinstance(node, ast.BinOp):
        return _joined(source, node, depth - 1)
    if isinstance(node, ast.UnaryOp):
        return rank(source, node.operand, depth - 1)
    if isinstance(node, ast.Subscript):
        return _taken(source, node, depth - 1)
    return _called(source, node, depth - 1) if isinstance(node, ast.Call) else None


def _stands_for(source: Source, binding: Binding) -> ast.expr | None:
    """What was bound to a name; also one of several things that a function of this file returns."""
    if binding.whole is not None or binding.value is None or binding.how != "assigned":
        return binding.whole
    parts = list(unpacked(source, binding))
    return parts[0] if len(parts) == 1 and parts[0] is not binding.value else None


def _joined(source: Source, node: ast.BinOp, depth: int) -> int | None:
    left, right = rank(source, node.left, depth), rank(source, node.right, depth)
    if left is not None and right is not None:
        return left if left == right else None
    known, other = (left, node.right) if left is not None else (right, node.left)
    if known is None or number(source, other) is not None:
        return known
    # What it is joined with has the same axes, or the sum would not fit: no harm, no finding.
    return known


def _taken(source: Source, node: ast.Subscript, depth: int) -> int | None:
    if isinstance(node.value, ast.Call) and constant(node.slice) == 0 and _is_along(source, node.value):
        return _along(source, node.value, depth)
    inner = rank(source, node.value, depth)
    places = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for each in places:
        if inner is None or (isinstance(each, ast.Constant) and each.value is Ellipsis):
            return None
        if isinstance(each, ast.Constant):
            inner += 1 if each.value is None else -1
        elif not isinstance(each, ast.Slice) and len(places) > 1:
            return None
    return inner


def _is_along(source: Source, call: ast.Call) -> bool:
    name = library(source, call)
    return (name.rpartition(".")[2] if name.startswith("torch.") else "" if name else method(call)) in _ALONG


def _along(source: Source, call: ast.Call, depth: int) -> int | None:
    """After a max, min, sum or mean over one axis."""
    shift = 1 if library(source, call) else 0
    subject = call.args[0] if shift and call.args else receiver(call)
    axis = constant(argument(call, shift, "dim", "axis"))
    if subject is None or not isinstance(axis, int):
        return None
    inner = rank(source, subject, depth)
    kept = argument(call, shift + 1, "keepdim", "keepdims")
    if constant(kept) is True:
        return inner if inner is not None else 2 if axis == 1 and method(call) in ("max", "min") else None
    if inner is not None:
        return inner - 1
    return 1 if axis == 1 and method(call) in ("max", "min") else None


def _called(source: Source, call: ast.Call, depth: int) -> int | None:
    name, does, inner = library(source, call), method(call), receiver(call)
    if name in _MAKES and call.args:
        return _made(source, call.args[0], depth)
    if name in _FILLS and call.args:
        return _sized(source, call.args)
    if kind(source, call.func) == "module":
        return 2 if _one_wide(source, call) else None
    if told := {rank(source, each, depth) for each, _ in held(source, call)}:
        return next(iter(told)) if len(told) == 1 else None
    if name in ("torch.squeeze", "torch.unsqueeze") and call.args:
        inner, does, given = call.args[0], name.rpartition(".")[2], call.args[1:]
    else:
        given = call.args
    if inner is None or (name and name not in ("torch.squeeze", "torch.unsqueeze")):
        return None
    if does == "gather":
        return 2 if constant(argument(call, 0, "dim")) == 1 else None
    if does in ("view", "reshape") and given:
        sizes = given[0].elts if isinstance(given[0], ast.Tuple | ast.List) else given
        return len(sizes) if all(isinstance(constant(each), int) for each in sizes) else None
    if does == "flatten" and not given and not call.keywords:
        return 1
    before = rank(source, inner, depth)
    if before is None:
        return None
    if does == "squeeze":
        return before - 1
    if does == "unsqueeze":
        return before + 1
    if does in _SAME:
        return before
    return _along(source, call, depth) if does in ("sum", "mean", "amax", "amin") and given + call.keywords else None


def _sized(source: Source, sizes: list[ast.expr]) -> int | None:
    """`zeros(n)`, `zeros(n, 1)`, `zeros((n, 1))`."""
    if len(sizes) == 1 and isinstance(sizes[0], ast.Tuple | ast.List):
        sizes = sizes[0].elts
    if any(isinstance(each, ast.Starred) for each in sizes) or all(number(source, each) == 1 for each in sizes):
        return None  # one number goes with everything
    plain = (
        len(sizes) > 1 or number(source, sizes[0]) is not None or dotted(getattr(sizes[0], "func", sizes[0])) == "len"
    )
    return len(sizes) if plain else None


def _made(source: Source, given: ast.expr, depth: int) -> int | None:
    """A tensor of a list of numbers has one axis."""
    told = part(source, given)
    lanes = any(word in source.text for word in ("make_vec", "VecEnv", "VectorEnv", "num_envs", "n_envs"))
    if told and told <= FLAGS | {"reward"} and not lanes:
        direct = dotted(given) and roles(source, given)  # of this very step: one number
        return None if direct else 1
    holds = [each for each in put_in(source, given) if not isinstance(each, ast.Constant)]  # the place of an insert()
    sums = {each.name for each in running_sums(source)} if not lanes else set()
    if holds and all((isinstance(each, ast.Name) and each.id in sums) or method(each) == "item" for each in holds):
        return 1
    return rank(source, given, depth)


def _one_wide(source: Source, call: ast.Call) -> bool:
    """Whether a network ends in Linear(…, 1), nothing after it, and is asked for rows."""
    given = call.args[0] if call.args else None
    if given is None or any(roles(source, each) for each in ast.walk(given) if isinstance(each, ast.Name)):
        return False
    owner = module_class(source, call.func)
    if owner is None:
        return any(_ends_in_one(source, each.whole) for each in reaching(source, call.func))
    forward = next((n for n in owner.body if isinstance(n, ast.FunctionDef) and n.name == "forward"), None)
    values = [n.value for n in ast.walk(forward) if isinstance(n, ast.Return)] if forward is not None else []
    if len(values) != 1 or not isinstance(values[0], ast.Call):
        return False
    last = values[0]
    return any(_ends_in_one(source, each.whole) for each in reaching(source, last.func))


def _ends_in_one(source: Source, made: ast.expr | None) -> bool:
    while (
        isinstance(made, ast.Call) and method(made) in ("to", "cuda", "float") and (inner := receiver(made)) is not None
    ):
        made = inner
    if isinstance(made, ast.Call) and (given := given_back(source, made)) is not None:
        return _ends_in_one(source, given)
    name = library(source, made) if made is not None else ""
    if name == "torch.nn.Linear" and isinstance(made, ast.Call):
        return constant(argument(made, 1, "out_features")) == 1
    if name == "torch.nn.Sequential" and isinstance(made, ast.Call) and made.args:
        return _ends_in_one(source, made.args[-1])
    return False
