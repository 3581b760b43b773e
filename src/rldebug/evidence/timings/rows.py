"""Rows that are put together in Python: lists that were filled one by one, and batches that are drawn one by one."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import lru_cache

from rldebug.evidence.source import Source
from rldebug.evidence.timings.loops import Comprehension, Loop, calls_at, loops_at
from rldebug.syntax.flow import held
from rldebug.syntax.names import dotted, library, method, receiver
from rldebug.syntax.places import above, class_of, scope_of

_STACKS = frozenset(
    [f"torch.{each}" for each in ("stack", "cat", "concat", "concatenate", "vstack", "hstack", "tensor", "as_tensor")]
    + [f"torch.{each}" for each in ("Tensor", "FloatTensor", "LongTensor", "IntTensor", "BoolTensor", "DoubleTensor")]
    + [f"numpy.{each}" for each in ("array", "asarray", "stack", "concatenate", "vstack", "hstack", "float32")]
)
_DRAWS = frozenset(
    [f"random.{each}" for each in ("sample", "choices", "choice", "randint", "randrange")]
    + [f"numpy.random.{each}" for each in ("choice", "randint", "permutation", "random_integers")]
    + [f"torch.{each}" for each in ("randint", "randperm", "multinomial")]
)
_DRAWN = ("sample", "choice", "choices", "integers", "permutation", "randint")
_SAME_ROWS = ("list", "tuple", "reversed", "enumerate", "zip", "set", "iter")
_SAME = ("tolist", "numpy", "cpu", "copy", "astype", "long", "values", "items", "flatten", "ravel")
_LISTS = ("list", "collections.deque", "deque")
_PUTS = ("append", "appendleft", "extend", "insert")
_DEEPEST = 12


def stacking(source: Source, node: ast.AST) -> ast.Call | None:
    """The call around a place that makes one array of a list: `torch.stack([t.obs for t in memory])`."""
    around = (each for each in _expressions(source, node) if isinstance(each, ast.Call) and each.args)
    return next((each for each in around if library(source, each) in _STACKS), None)


def _expressions(source: Source, node: ast.AST) -> Iterator[ast.AST]:
    """A place and what it stands in, up to the statement; all calls of that, where Python knows no more."""
    if isinstance(node, ast.stmt):
        yield from calls_at(node)
        return
    yield node
    for each in above(source, node):
        if isinstance(each, ast.stmt):
            return
        yield each


# ── lists ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=4096)
def of_a_list(source: Source, value: ast.expr, depth: int = _DEEPEST) -> bool:
    """Whether an expression is a list that was filled piece by piece, or is taken out of one piece by piece."""
    if depth <= 0:
        return False
    if isinstance(value, Comprehension):
        over = value.generators[0].iter
        if _asks_each(value) or isinstance(over, ast.Tuple | ast.List):
            return False  # several networks, one after another, are no list that was kept
        looked_up = [each.value for each in ast.walk(_taken(value)) if isinstance(each, ast.Subscript)]
        inner = looked_up[0] if _called(over) == "range" and looked_up else over
        return _of_its_row(value) or of_a_list(source, inner, depth - 1)
    if isinstance(value, ast.Subscript):
        return isinstance(value.slice, ast.Slice) and of_a_list(source, value.value, depth - 1)
    if isinstance(value, ast.Name | ast.Attribute):
        return _appended(source, value) or any(of_a_list(source, each, depth - 1) for each, _ in held(source, value))
    if isinstance(value, ast.Call) and (_called(value) in _SAME_ROWS or method(value) in ("copy", "values")):
        inside = receiver(value) if method(value) else value.args[0] if value.args else None
        inside = inside.value if isinstance(inside, ast.Starred) else inside
        return inside is not None and (_made_empty(source, value) or of_a_list(source, inside, depth - 1))
    return _made_empty(source, value)


def _made_empty(source: Source, value: ast.expr) -> bool:
    """`[]`, `deque(maxlen=n)`, `[None] * n`: a list, or a deque, that is filled elsewhere."""
    if isinstance(value, ast.Call):
        return (library(source, value) or _called(value)) in _LISTS
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
        return isinstance(value.left, ast.List)
    return isinstance(value, ast.List) and not value.elts


def _appended(source: Source, value: ast.expr) -> bool:
    name = dotted(value)
    around: ast.AST = scope_of(source, value)
    if name.startswith("self.") and (owner := class_of(source, value)) is not None:
        around = owner
    return bool(name) and name in _appended_to(around)


@lru_cache(maxsize=1024)
def _appended_to(around: ast.AST) -> frozenset[str]:
    """Names of what something is appended to, in a function or class."""
    found = [receiver(each) for each in ast.walk(around) if isinstance(each, ast.Call) and method(each) in _PUTS]
    found += [each.target for each in ast.walk(around) if isinstance(each, ast.AugAssign) and _rows(each.value)]
    return frozenset(dotted(each) for each in found if each is not None)


def _rows(value: ast.expr) -> bool:
    """What `rows += …` adds to a list."""
    return isinstance(value, ast.List | Comprehension) or _called(value) in _SAME_ROWS


def _taken(node: Comprehension) -> ast.expr:
    return node.value if isinstance(node, ast.DictComp) else node.elt


def _of_its_row(node: Comprehension) -> bool:
    """`step.obs`, `step[0]`, for each step."""
    taken = _taken(node)
    while isinstance(taken, ast.Subscript | ast.Attribute):
        taken = taken.value
    return taken is not _taken(node) and dotted(taken) in _variables(node)


def _asks_each(node: Comprehension) -> bool:
    taken = _taken(node)
    return isinstance(taken, ast.Call) and dotted(taken.func) in _variables(node)


def _variables(node: Comprehension) -> set[str]:
    return {each.id for part in node.generators for each in ast.walk(part.target) if isinstance(each, ast.Name)}


def _called(node: ast.AST) -> str:
    return dotted(node.func) if isinstance(node, ast.Call) else ""


# ── draws ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=4096)
def drawn(source: Source, value: ast.expr, depth: int = _DEEPEST) -> bool:
    """Whether an expression stands for what was drawn, indices or rows, or for a column of it. Not for parts that were
    split off, each of which is a batch of its own."""
    if depth <= 0:
        return False
    if _draws(source, value) or (isinstance(value, Comprehension) and _picks(source, value)):
        return True
    behind: list[ast.expr] = []
    if isinstance(value, ast.Name | ast.Attribute):
        behind = [each for each, _ in held(source, value)]
        if not behind and isinstance(value, ast.Attribute):
            behind = [value.value]  # batch.obs
    elif isinstance(value, Comprehension):
        behind = [value.generators[0].iter, *([_taken(value)] if isinstance(_taken(value), ast.Call) else [])]
    elif isinstance(value, ast.Subscript):
        behind = [value.value]
    elif isinstance(value, ast.Call):
        inside = receiver(value)
        behind = [each for each, _ in held(source, value)]
        behind += [each.value for each in value.args if isinstance(each, ast.Starred)]
        if _called(value) in _SAME_ROWS or library(source, value) in _STACKS:
            behind += value.args
        elif method(value) in _SAME and inside is not None:
            behind.append(inside)
    return any(drawn(source, each, depth - 1) for each in behind)


def _picks(source: Source, node: Comprehension) -> bool:
    """`[rows[k] for k in which]`: rows of a list, in an order that comes from elsewhere."""
    taken, over = _taken(node), node.generators[0].iter
    if not isinstance(taken, ast.Subscript) or dotted(taken.slice) not in _variables(node):
        return False
    return _called(over) not in ("range", *_SAME_ROWS) and of_a_list(source, taken.value)


def _draws(source: Source, call: ast.AST) -> bool:
    if not isinstance(call, ast.Call):
        return False
    name = library(source, call)
    return name in _DRAWS or (not name and method(call) in _DRAWN and bool(call.args))


def _zipped(node: ast.AST) -> ast.expr | None:
    """The rows of `zip(*rows)`."""
    given = node.args if isinstance(node, ast.Call) and _called(node) == "zip" else []
    return next((each.value for each in given if isinstance(each, ast.Starred)), None)


def row_by_row(source: Source, node: ast.AST, learns: Callable[[Loop], bool] = lambda loop: False) -> bool:
    """Whether a place is about a batch of rows that are fetched one by one: drawn from a list or a deque of them,
    looked up one by one, or parted into columns by `zip(*batch)`. Where a round `learns`, it has a batch."""
    for each in _expressions(source, node):
        if isinstance(each, ast.Call):
            if library(source, each) in ("random.sample", "random.choices") and each.args:
                return _called(each.args[0]) != "range"
            if (rows := _zipped(each)) is not None:
                return drawn(source, rows)
            given = each.args[0] if library(source, each) in _STACKS and each.args else None
            if given is not None and drawn(source, given) and (of_a_list(source, given) or _column(source, given)):
                return True
    inner = ast.walk(node) if isinstance(node, ast.stmt) and not hasattr(node, "body") else ()
    around = [*loops_at(source, node), *(Loop(source, each) for each in inner if isinstance(each, Comprehension))]
    return any(_looks_up(source, loop) and not learns(loop) for loop in around)


def _column(source: Source, value: ast.expr, depth: int = 4) -> bool:
    """Whether it is a column of `zip(*rows)`, or all rows as `random.sample` gives them: a tuple or a list of rows."""
    if _zipped(value) is not None or library(source, value) == "random.sample":
        return True
    behind = [each for each, _ in held(source, value)] if isinstance(value, ast.Name | ast.Attribute | ast.Call) else []
    if not behind and isinstance(value, ast.Attribute):
        behind = [value.value]
    if isinstance(value, ast.Call):
        behind += [each.value for each in value.args if isinstance(each, ast.Starred)]
    if isinstance(value, Comprehension):
        behind.append(value.generators[0].iter)
    return depth > 0 and any(_column(source, each, depth - 1) for each in behind)


def _looks_up(source: Source, loop: Loop) -> bool:
    """`buffer[i]` in each round, for an i that goes over what was drawn; or over what was drawn itself, column by
    column: `for obs, action in batch: all_obs.append(obs)`."""
    if isinstance(loop.node, Comprehension) and _picks(source, loop.node):
        return True
    if not any(drawn(source, each) for each in loop.over):
        return False
    for node in loop.nodes():
        if method(node) == "backward" or isinstance(node, ast.Yield):
            return False  # a round is a batch
    for node in loop.nodes():
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and dotted(node.value):
            inside = (each for each in ast.walk(node.slice) if isinstance(each, ast.Name))
            if any(each.id in loop.variables for each in inside):
                return True
        if isinstance(node, ast.Call) and method(node) == "append":
            return True
    return isinstance(loop.node, Comprehension) and _of_its_row(loop.node)
