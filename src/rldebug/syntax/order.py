"""Whether a program reads a list step by step: of what only becomes a mean, a spread or a line of a report the order is
nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from rldebug.evidence.source import Source
from rldebug.syntax.bindings import (
    attributes,
    called,
    calls_of,
    class_of_method,
    first_parameter,
    functions,
    parameters,
    reaching,
)
from rldebug.syntax.flow import PUTS, object_class
from rldebug.syntax.names import argument, constant, dotted, library, method, receiver
from rldebug.syntax.places import Function, class_of, function_of, parents, scope_of, statement_of

_SUMS_UP = (
    *("sum", "mean", "std", "var", "max", "min", "amax", "amin", "median", "norm", "numel", "any", "all", "ptp"),
    *("nansum", "nanmean", "nanstd", "nanvar", "nanmax", "nanmin", "quantile", "percentile", "histogram"),
    *("var_mean", "std_mean", "count_nonzero"),
)
_WITHOUT_AXIS = ("quantile", "percentile", "histogram", "norm")  # in this place stands something else
_KEEPS = (
    *("array", "asarray", "as_tensor", "tensor", "from_numpy", "FloatTensor", "Tensor", "stack", "vstack", "hstack"),
    *("cat", "concatenate", "concat", "ravel", "flatten", "reshape", "view", "astype", "type", "numpy", "to", "float"),
    *("double", "cpu", "cuda", "detach", "clone", "copy", "tolist", "squeeze", "unsqueeze", "transpose", "swapaxes"),
    *("permute", "abs", "pow", "square", "sqrt", "log", "exp", "clip", "clamp", "contiguous", "float32", "float64"),
    *("isfinite", "isnan"),
)
_BUILT_IN = ("len", "max", "min", "sum", "print", "set", "any", "all", "sorted", "str", "repr", "bool")
_SAME = ("list", "tuple", "float", "int", "round", "abs", "reversed")
_REPORTS = ("matplotlib.", "seaborn.", "wandb.", "mlflow.", "logging.", "pandas.")
_TOLD_TO = ("add_scalar", "add_scalars", "add_histogram")  # of TensorBoard
_ABOUT = ("shape", "dtype", "device", "ndim", "size", "nbytes")
_DEEPEST = 40  # steps of one walk


def only_summed_up(source: Source, container: ast.expr) -> bool:
    """Whether all that the text ever makes of a list are numbers about all of it, and reports; and there is one."""
    walk = _Walk(source)
    uses = list(_uses(source, container))
    return bool(uses) and not any(walk.placed(each, _DEEPEST) for each in uses) and walk.summed


@dataclass
class _Walk:
    source: Source
    seen: set[ast.AST] = field(default_factory=set)
    summed: bool = False  # something became a number about all of it, or is shown

    def placed(self, node: ast.AST, depth: int) -> bool:
        """Whether someone may look at what stands where in the value of an expression; true where it is not known."""
        if node in self.seen:
            return False
        self.seen.add(node)
        parent = parents(self.source).get(node)
        if depth <= 0 or parent is None:
            return True
        on = depth - 1
        if isinstance(parent, ast.Attribute):
            return self._attribute(parent, on)
        if isinstance(parent, ast.Call):
            return self._given(parent, node, on)
        if isinstance(parent, ast.Subscript):
            return parent.value is not node or (not isinstance(parent.ctx, ast.Store) and self.placed(parent, on))
        if isinstance(parent, ast.BinOp | ast.Compare):
            return not self._beside_numbers(parent, node) or self.placed(parent, on)
        if isinstance(parent, ast.keyword | ast.List | ast.Dict | ast.UnaryOp | ast.Starred):
            return self.placed(parent, on)
        if isinstance(parent, ast.FormattedValue):
            self.summed = True
            return False
        if isinstance(parent, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
            targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
            return parent.value is node and any(self._kept_in(each, on) for each in targets)
        if isinstance(parent, ast.Return):
            return self._returned(parent, on)
        return not isinstance(parent, ast.Expr | ast.Delete | ast.If | ast.Assert)

    def _beside_numbers(self, parent: ast.BinOp | ast.Compare, node: ast.AST) -> bool:
        """Whether it meets but numbers, and what was made of itself: no other list, to be paired with."""
        name = dotted(node)
        sides = [parent.left, parent.right] if isinstance(parent, ast.BinOp) else [parent.left, *parent.comparators]
        others = [one for each in sides if each is not node for one in ast.walk(each) if dotted(one)]
        known = [one for one in others if name and dotted(one).startswith((name, f"{name}."))]
        return len(known) == len(others)

    def _attribute(self, parent: ast.Attribute, depth: int) -> bool:
        call = parents(self.source).get(parent)
        if not (isinstance(call, ast.Call) and call.func is parent):
            return parent.attr not in _ABOUT and (parent.attr not in ("T", "data") or self.placed(parent, depth))
        if parent.attr in (*PUTS, "clear"):
            return False
        return self._made(call, parent.attr, 0, depth)

    def _made(self, call: ast.Call, does: str, place: int, depth: int) -> bool:
        """What a function or a method makes of all the numbers, or of each of them."""
        if does in _SUMS_UP:
            axis = argument(call, place, "dim", "axis")
            told = [constant(each) for each in (axis.elts if isinstance(axis, ast.Tuple) else [axis])]
            if does not in _WITHOUT_AXIS and axis is not None and 0 not in told:
                return self.placed(call, depth)  # of each step for itself
            self.summed = True
            return False
        return does not in _KEEPS or self.placed(call, depth)

    def _given(self, call: ast.Call, node: ast.AST, depth: int) -> bool:
        name = dotted(call.func)
        if name in _BUILT_IN:
            self.summed = True
            return False
        if name in _SAME:
            return self.placed(call, depth)
        full, inner = library(self.source, call), receiver(call)
        nowhere_bound = isinstance(inner, ast.Name) and not full and not reaching(self.source, inner)
        if full.startswith(("numpy.", "torch.")) or (nowhere_bound and method(call) in (*_SUMS_UP, *_KEEPS)):
            return self._made(call, method(call) or full.rpartition(".")[2], 1, depth)
        if full.startswith(_REPORTS) or (not full and method(call) in _TOLD_TO):
            self.summed = True
            return False
        known = self._runs(call)
        if known:  # where it is not told which of several is run, one that sums up is enough of a doubt
            return all(self._taken_by(each, call, node, depth) for each in known)
        if method(call) == "update" and not full:  # of a statistic of a library
            self.summed = True
            return False
        return True

    def _taken_by(self, function: Function, call: ast.Call, node: ast.AST, depth: int) -> bool:
        parameter = _parameter(self.source, function, call, node)
        return parameter is None or any(self.placed(each, depth) for each in _loads(function, parameter))

    def _runs(self, call: ast.Call) -> list[Function]:
        """The functions of this file that a call may run."""
        function, inner = called(self.source, call), receiver(call)
        if function is not None or inner is None:
            return [function] if function is not None else []
        owner = object_class(self.source, inner)
        alike = functions(self.source).get(method(call), [])
        mine = [each for each in alike if owner is not None and class_of_method(self.source, each) is owner]
        return mine or [each for each in alike if class_of_method(self.source, each) is not None]

    def _kept_in(self, target: ast.expr, depth: int) -> bool:
        if isinstance(target, ast.Subscript):
            target = target.value
        if not dotted(target):
            return True
        uses = list(_uses(self.source, target))
        return any(self.placed(each, depth) for each in uses)

    def _returned(self, parent: ast.Return, depth: int) -> bool:
        function = function_of(self.source, parent)
        runs = calls_of(self.source, function) if function is not None else ()
        return not runs or any(self.placed(each, depth) for each in runs)


def _uses(source: Source, container: ast.expr) -> Iterator[ast.expr]:
    """Where else the same list is read; of `self.x` in all methods of the class."""
    name = dotted(container)
    function, owner = function_of(source, container), class_of(source, container)
    me = first_parameter(function) if function is not None and class_of_method(source, function) else ""
    around: Iterable[ast.AST] = [scope_of(source, container)]
    if (
        me
        and owner is not None
        and name.startswith(f"{me}.")
        and f"self.{name[len(me) + 1 :]}" in attributes(source, owner)
    ):
        around = [each for each in owner.body if isinstance(each, Function)]
    elif "." in name:
        around = [source.tree]
    bound = isinstance(getattr(container, "ctx", None), ast.Store)
    here = {statement_of(source, container)} if bound else {each.node for each in reaching(source, container)}
    for scope in around:
        for node in _loads(scope, name):
            there = {each.node for each in reaching(source, node)}
            if node is not container and (not here or not there or here & there):
                yield node


def _loads(scope: ast.AST, name: str) -> Iterator[ast.expr]:
    for node in ast.walk(scope):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load) and dotted(node) == name:
            yield node


def _parameter(source: Source, function: Function, call: ast.Call, node: ast.AST) -> str | None:
    if isinstance(node, ast.keyword):
        return node.arg
    names = [each.arg for each in parameters(function)]
    if isinstance(call.func, ast.Attribute) and class_of_method(source, function) is not None:
        names = names[1:]
    place = next((place for place, each in enumerate(call.args) if each is node), len(names))
    plain = not any(isinstance(each, ast.Starred) for each in call.args)
    return names[place] if plain and place < len(names) else None
