"""Every name that a script gives a constant, with its line. The script is parsed, and never run.

Seen are assignments, dataclass fields, defaults of arguments, keywords of calls, keys of dicts, options of argparse,
click and absl, and what optimizers, gradient clipping and replay buffers are made with.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rldebug.evidence.given import Given, HyperparametersError, is_number
from rldebug.evidence.synonyms import plain_name

_OPTIMIZERS = frozenset({"Adam", "AdamW", "RMSprop", "SGD", "NAdam", "RAdam", "Adagrad", "Adamax"})
_DEFAULTS = ("field", "Field", "Option", "Argument")  # calls that stand for their default

# Whose keywords are no hyperparameters: alpha= is the transparency of a line, gamma= the factor of a schedule.
_STRANGERS = re.compile(
    r"(plt|axe?s?|fig|np|numpy|torch|nn|F|T|sns|pd|cv2|os|re|json|math|random|time|logging|transforms|tqdm|print|range|open|"
    r"subprocess|scipy|jnp|shutil|pickle|Image)\b|.*(LR|Scheduler|Norm|Loss)$"
)


def read_script(data: bytes, file: Path) -> Iterator[Given]:
    try:
        tree = ast.parse(data)
    except SyntaxError as error:
        raise HyperparametersError(f"{file}:{error.lineno}: {error.msg}") from error
    script = _Script(tree)
    script.visit(tree)
    yield from script.found


class _Script(ast.NodeVisitor):
    """Walks a script and notes every name that is given a constant."""

    def __init__(self, tree: ast.Module) -> None:
        self.found: list[Given] = []
        self.scopes = [_constants(tree.body, [])]  # names that hold one constant, innermost last
        self.inside = ["module"]  # holders, innermost last
        self.target = ""  # what the value in hand is assigned to
        # Counters and schedules: their first value is no setting.
        self.moving = {ast.unparse(each.target) for each in ast.walk(tree) if isinstance(each, ast.AugAssign)}

    # ── statements ──

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._within(f"class {node.name}", node.body, _constants(node.body, self.scopes))

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for each in node.decorator_list:  # options of click
            self.visit(each)
        arguments = node.args
        positional = [*arguments.posonlyargs, *arguments.args]
        pairs = [
            *zip(positional[len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True),
            *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
        ]
        holder = f"{self.inside[-1]} def __init__" if node.name == "__init__" else f"def {node.name}"
        for name, default in pairs:
            self._note(name.arg, default, name, holder)
        bound = dict.fromkeys((each.arg for each in (*positional, *arguments.kwonlyargs)), _UNKNOWN)
        self._within(holder, node.body, {**_constants(node.body, self.scopes), **bound})

    visit_AsyncFunctionDef = visit_FunctionDef

    def _within(self, holder: str, body: Sequence[ast.stmt], scope: dict[str, Any]) -> None:
        self.inside.append(holder)
        self.scopes.append(scope)
        for each in body:
            self.visit(each)
        self.scopes.pop()
        self.inside.pop()

    def visit_Assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            for left, right in _pairs(target, node.value):
                self._assign(left, right)
        self._visit_value(node.targets[0], node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._assign(node.target, node.value)
            self._visit_value(node.target, node.value)

    def _visit_value(self, target: ast.expr, value: ast.expr) -> None:
        self.target = ast.unparse(target)
        self.visit(value)
        self.target = ""

    def _assign(self, target: ast.expr, value: ast.expr | None) -> None:
        holder = self.inside[-1]
        if ast.unparse(target) in self.moving and not holder.startswith("class "):
            return
        if isinstance(target, ast.Name):
            self._note(target.id, value, target, holder, listed=" def " not in f" {holder}")
        elif isinstance(target, ast.Attribute):
            base = ast.unparse(target.value)
            holder = f"{holder} self" if base == "self" else base
            self._note(f"{base}.{target.attr}", value, target, holder, listed=base != "self")
        elif isinstance(target, ast.Subscript) and _text(target.slice):
            base = ast.unparse(target.value)
            self._note(f"{base}.{_text(target.slice)}", value, target, base)

    # ── expressions ──

    def visit_Dict(self, node: ast.Dict) -> None:
        for key, value in zip(node.keys, node.values, strict=True):
            self._note(_text(key), value, key or node, f"{self.target} {node.lineno}:{node.col_offset}")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        callee = ast.unparse(node.func)
        last = callee.rpartition(".")[2]
        holder = f"{self.target if last == 'dict' else callee} {node.lineno}:{node.col_offset}"
        words = {each.arg: each.value for each in node.keywords if each.arg}
        second = node.args[1] if len(node.args) > 1 else None
        if last in ("add_argument", "add_option", "option"):
            self._option(node, words)
        elif last.startswith("DEFINE_") and second is not None:
            self._note(_text(node.args[0]), second, node, "flags")
        elif last == "get" and len(node.args) == 2:
            self._note(_text(node.args[0]), second, node, callee.partition(".")[0])
        elif last in _OPTIMIZERS:
            self._optimizer(node, words, last)
        elif last == "clip_grad_norm_":
            self._note("clip_grad_norm", words.get("max_norm", second), node, holder)
        elif last == "deque" and re.search("memory|replay", self.target.lower()):
            self._note("buffer_size", words.get("maxlen"), node, holder)
        elif not _STRANGERS.match(callee) and last not in _DEFAULTS:
            for each in node.args:  # a number this large can only be the capacity
                size = _constant(each, self.scopes)
                if "replay" in last.lower() and is_number(size) and size >= 500:
                    self._note("buffer_size", each, node, holder)
            for name, value in words.items():
                self._note(name, value, value, holder)
        self.generic_visit(node)

    def _option(self, node: ast.Call, words: Mapping[str, ast.expr]) -> None:
        """argparse, optparse and click: the longest name counts, or what it is stored under."""
        names = [_text(words["dest"])] if "dest" in words else [_text(each).lstrip("-") for each in node.args]
        default = words.get("default")
        if default is None and _text(words.get("action")) == "store_true":
            default = ast.Constant(False)
        self._note(max(names, key=len, default=""), default, node, "parser")

    def _optimizer(self, node: ast.Call, words: Mapping[str, ast.expr], last: str) -> None:
        """Whose learning rate it is, is told by the parameters it gets or by its own name."""
        told = " ".join((self.target, *map(ast.unparse, node.args[:1]))).lower()
        policy = re.search(r"actor|policy|pi(_|\b)", told)
        value = re.search(r"critic|value|vf|q[f_]?\d?(_|\b)", told)
        name = "policy_lr" if policy and not value else "value_lr" if value and not policy else "lr"
        rate = words.get("lr", node.args[1] if len(node.args) > 1 else None)
        holder = f"optimizer {node.lineno}:{node.col_offset}"
        self._note(f"{last}.{'alpha_lr' if 'alpha' in told else name}", rate, node, holder)
        if last.startswith(("Adam", "RMS")):
            self._note(f"{last}.adam_eps", words.get("eps"), node, holder)
            self._note(f"{last}.rms_alpha", words.get("alpha"), node, holder)
        self._note(f"{last}.weight_decay", words.get("weight_decay"), node, holder)

    def _note(self, name: str, node: ast.expr | None, at: ast.AST, holder: str, listed: bool = True) -> None:
        if plain_name(name) == "net_arch" and isinstance(node, ast.Dict | ast.Call):  # of the policy, of the critic
            for each in node.values if isinstance(node, ast.Dict) else [each.value for each in node.keywords]:
                self._note(name, each, at, holder, listed)
            return
        value = _UNKNOWN if node is None or not name else _constant(node, self.scopes)
        if value is not _UNKNOWN:
            self.found.append(Given(name, value, getattr(at, "lineno", 1), holder, listed))


# ── which constant an expression is ─────────────────────────────────────────────────────────────────────────────────

_UNKNOWN: Any = object()
_OPERATORS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
}


def _constant(node: ast.expr, scopes: Sequence[Mapping[str, Any]]) -> Any:
    """The constant that an expression is, or _UNKNOWN. Nothing is called but int, float, tuple and list."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, int | float | str | None) else _UNKNOWN
    if isinstance(node, ast.Name):
        return next((scope[node.id] for scope in reversed(scopes) if node.id in scope), _UNKNOWN)
    if isinstance(node, ast.List | ast.Tuple):
        parts = [_constant(each, scopes) for each in node.elts]
        return _UNKNOWN if _UNKNOWN in parts else parts
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = _constant(node.operand, scopes)
        return -number if is_number(number) else _UNKNOWN
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _arithmetic(_OPERATORS[type(node.op)], _constant(node.left, scopes), _constant(node.right, scopes))
    if isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("nn", "torch.nn"):
        return node.attr  # nn.Tanh, handed over as an activation
    if isinstance(node, ast.Call):
        return _call(node, scopes)
    return _UNKNOWN


def _arithmetic(operation: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    if operation is operator.mul and isinstance(left, list) and isinstance(right, int):
        return left * right if right <= 16 else _UNKNOWN  # [64] * 2
    if not (is_number(left) and is_number(right)):
        return _UNKNOWN
    if operation in (operator.pow, operator.lshift) and (abs(right) > 64 or abs(left) > 1e6):
        return _UNKNOWN  # 10 ** 10 ** 10 would not come back
    try:
        result = operation(left, right)
    except (ArithmeticError, TypeError, ValueError):
        return _UNKNOWN
    return result if is_number(result) else _UNKNOWN


def _call(node: ast.Call, scopes: Sequence[Mapping[str, Any]]) -> Any:
    name = ast.unparse(node.func).rpartition(".")[2]
    first = node.args[0] if node.args else None
    if name in _DEFAULTS:
        words = {each.arg: each.value for each in node.keywords}
        factory = words.get("default_factory")
        default = factory.body if isinstance(factory, ast.Lambda) else words.get("default", first)
        return _UNKNOWN if default is None else _constant(default, scopes)
    value = _UNKNOWN if first is None else _constant(first, scopes)
    if name in ("tuple", "list") and isinstance(value, list):
        return value
    if name in ("int", "float") and is_number(value) and math.isfinite(value):
        return int(value) if name == "int" else float(value)
    return _UNKNOWN


def _constants(body: Sequence[ast.stmt], outer: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What every name assigned in a body is: a constant, or _UNKNOWN where it is more than one thing."""
    scope: dict[str, Any] = {}
    for node in _statements(body):
        for name, value in _bindings(node):
            new = _constant(value, [*outer, scope]) if value is not None else _UNKNOWN
            known = scope.get(name, new)
            scope[name] = new if type(known) is type(new) and known == new else _UNKNOWN
    return scope


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """A body and the blocks in it, but not the functions and classes: their names are their own."""
    for each in body:
        yield each
        if not isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for block in ("body", "orelse", "finalbody"):
                yield from _statements(getattr(each, block, []))
            for handler in getattr(each, "handlers", []):
                yield from _statements(handler.body)


def _bindings(node: ast.stmt) -> Iterator[tuple[str, ast.expr | None]]:
    """The names that a statement sets, each with the expression it is set to; None where that varies."""
    targets: list[ast.expr] = []
    value: ast.expr | None = None
    if isinstance(node, ast.Assign):
        targets, value = node.targets, node.value
    elif isinstance(node, ast.AnnAssign):
        targets, value = [node.target], node.value
    elif isinstance(node, ast.AugAssign | ast.For | ast.AsyncFor):
        targets = [node.target]
    for left, right in (pair for target in targets for pair in _pairs(target, value)):
        for each in ast.walk(left):
            if isinstance(each, ast.Name):
                yield each.id, right if each is left else None


def _pairs(target: ast.expr, value: ast.expr | None) -> list[tuple[ast.expr, ast.expr | None]]:
    """a, b = 1, 2 is two assignments."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]


def _text(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
