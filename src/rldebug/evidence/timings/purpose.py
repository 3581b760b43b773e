"""What a function of the user's is about, as its text says: by the library's calls in it, and by what it works out."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import lru_cache

from rldebug.evidence.source import Source
from rldebug.evidence.timings.libraries import CONVERSIONS, PRINTS, SAVES
from rldebug.syntax.names import dotted, library, method
from rldebug.syntax.places import Scope, calls_in

_WRITES = frozenset(
    {"add_scalar", "add_scalars", "add_histogram", "add_image", "add_images", "add_figure", "add_video", "add_text"}
)  # of a SummaryWriter
_LOGS = ("wandb.", "logging.", "mlflow.")
_MOST = 4  # calls of a function, of which one at least writes
_JOINS = frozenset(
    {
        *("torch.stack", "torch.cat", "torch.tensor", "torch.as_tensor", "torch.from_numpy"),
        *("numpy.stack", "numpy.concatenate", "numpy.array"),
    }
)


@lru_cache(maxsize=4096)
def purpose(source: Source, scope: Scope) -> str:
    """saving, logging, or nothing that the text would tell."""
    calls = [(library(source, each) or dotted(each.func), method(each)) for each in calls_in(scope)]
    if any(name in SAVES for name, _ in calls):
        return "saving"
    told = [name in PRINTS or name.startswith(_LOGS) or last in _WRITES for name, last in calls]
    # One that works something out may print too.
    return "logging" if any(told) and _MOST * sum(told) >= len(told) else ""


@lru_cache(maxsize=4096)
def joins(source: Source, scope: Scope) -> bool:
    """Whether it puts together what was kept one by one."""
    return any(library(source, each) in _JOINS for each in calls_in(scope))


@lru_cache(maxsize=4096)
def converts(source: Source, scope: Scope) -> bool:
    """Whether all that it does with arrays is to make other arrays of them."""
    names = {library(source, each) for each in calls_in(scope)}
    arrays = {each for each in names if each.startswith(("torch.", "numpy."))}
    return bool(arrays) and arrays <= CONVERSIONS


def discounts(source: Source, scope: Scope, sources: Iterable[Source]) -> bool:
    """Whether it works back through time, or calls a function that does."""
    return any(_sums_back(*one) for one in ((source, scope), *_called(source, scope, tuple(sources))))


def _sums_back(source: Source, scope: Scope) -> bool:
    """In a loop, by a filter, or with the sums of what is turned around."""
    names = {(library(source, each) or method(each)).rpartition(".")[2] for each in calls_in(scope)}
    return works_back(scope) or "lfilter" in names or {"cumsum", "flip"} <= names


@lru_cache(maxsize=4096)
def _called(source: Source, scope: Scope, sources: tuple[Source, ...]) -> tuple[tuple[Source, ast.FunctionDef], ...]:
    names = {method(each) or dotted(each.func) for each in calls_in(scope)}
    return tuple((one, each) for one in sources for each in functions_of(one) if each.name in names)


@lru_cache(maxsize=256)
def functions_of(source: Source) -> tuple[ast.FunctionDef, ...]:
    return tuple(each for each in ast.walk(source.tree) if isinstance(each, ast.FunctionDef))


@lru_cache(maxsize=8192)
def works_back(around: ast.AST) -> bool:
    """A loop from the last to the first in which x = a + b·x."""
    return any(
        isinstance(node, ast.Assign) and _follows_itself(node)
        for loop in ast.walk(around)
        if (isinstance(loop, ast.For) and _from_the_end(loop.iter))
        or (isinstance(loop, ast.While) and _counts_down(loop))
        for node in ast.walk(loop)
    )


def _counts_down(loop: ast.While) -> bool:
    """`while t > 0: t -= 1`."""
    asked = {each.id for each in _names(loop.test)}
    return any(
        isinstance(each, ast.AugAssign)
        and isinstance(each.op, ast.Sub)
        and asked & {one.id for one in _names(each.target)}
        for each in ast.walk(loop)
    )


def _from_the_end(goes_over: ast.expr) -> bool:
    for each in ast.walk(goes_over):
        if isinstance(each, ast.Call) and (dotted(each.func) == "reversed" or dotted(each.func).endswith("flip")):
            return True
        steps = each.step if isinstance(each, ast.Slice) else None
        if isinstance(each, ast.Call) and dotted(each.func) == "range" and len(each.args) == 3:
            steps = each.args[2]
        if isinstance(steps, ast.UnaryOp) and isinstance(steps.op, ast.USub):
            return True
    return False


def _follows_itself(assign: ast.Assign) -> bool:
    """A sum in which what is assigned is a factor."""
    if not isinstance(assign.value, ast.BinOp) or not isinstance(assign.value.op, ast.Add | ast.Sub):
        return False
    names = {each.id for target in assign.targets for each in _names(target)}
    factors = (each for each in ast.walk(assign.value) if isinstance(each, ast.BinOp) and isinstance(each.op, ast.Mult))
    return any(name.id in names for each in factors for name in _names(each))


def _names(node: ast.AST) -> Iterator[ast.Name]:
    return (each for each in ast.walk(node) if isinstance(each, ast.Name))
