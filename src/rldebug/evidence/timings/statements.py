"""What the statements under way say of what they do: they draw by chance, work back through time, go through the
weights of networks, or save them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rldebug.evidence.source import Source
from rldebug.evidence.timing import Slice
from rldebug.evidence.timings.libraries import SAVES, module_of
from rldebug.evidence.timings.nodes import statement_at
from rldebug.evidence.timings.priorities import weighed
from rldebug.evidence.timings.purpose import discounts, works_back
from rldebug.evidence.timings.training_loop import TrainingLoop
from rldebug.evidence.timings.ways import line_of
from rldebug.syntax.names import dotted, library, method
from rldebug.syntax.places import loops_of, scope_of

_DRAWS = ("random", "numpy.random", "torch.rand", "torch.randint", "torch.randperm", "torch.multinomial")
_DRAWN_BY = frozenset(
    {"integers", "choice", "choices", "permutation", "shuffle", "randint", "randperm"}
)  # of generators
_WEIGHTS = frozenset({"parameters", "named_parameters", "state_dict", "load_state_dict"})  # of modules


def _statements(each: Slice, loop: TrainingLoop) -> Iterator[tuple[Source, ast.stmt]]:
    """Innermost first."""
    for spot in reversed(each.stack):
        source = loop.sources.get(spot.file) if spot.kind == "user" else None
        statement = statement_at(source, spot) if source is not None else None
        if source is not None and statement is not None:
            yield source, statement


def _head(statement: ast.stmt) -> ast.AST:
    """Of a statement with a body, what it goes over or asks."""
    for name in ("iter", "test"):
        if isinstance(found := getattr(statement, name, None), ast.AST):
            return found
    return statement


def draws(each: Slice, loop: TrainingLoop) -> bool:
    """Whether chance plays a part: in the statement, or in the function of the user's that it has called."""
    if any(module_of(spot.file).partition(".")[0] == "random" for spot in each.stack):
        return True
    users = [spot for spot in each.stack if spot.kind == "user"]
    for place, spot in enumerate(users):
        source = loop.sources.get(spot.file)
        statement = statement_at(source, spot) if source is not None else None
        if source is None or statement is None:
            continue
        # A function that one of the lines before has called is about this alone; the outermost does everything.
        scope = scope_of(source, statement)
        inner = place > 0 and not loop.holds(source.file, scope)
        if any(_is_draw(source, node) for node in ast.walk(scope if inner else _head(statement))):
            return True
    return False


def _is_draw(source: Source, node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    full = library(source, node)
    return full.startswith(_DRAWS) if full else method(node) in _DRAWN_BY


def touches_weights(each: Slice, loop: TrainingLoop) -> bool:
    """Whether the statement, the loop it stands in or the function it calls goes through the parameters of networks."""
    if any(_weights_in(source, function) for source, function in loop.about_to_call(each)):
        return True
    for source, statement in _statements(each, loop):
        scope = scope_of(source, statement)
        around: list[ast.AST] = [scope]
        if loop.holds(source.file, scope):
            around = [_head(one) for one in (statement, *loops_of(source, statement)[:1])]
        if any(_weights_in(source, one) for one in around):
            return True
    return False


def _weights_in(source: Source, one: ast.AST) -> bool:
    """Whether it asks networks for their weights; not where that is to save them."""
    saved = {id(inner) for node in ast.walk(one) if _is_save(source, node) for inner in ast.walk(node)}
    return any(
        isinstance(node, ast.Call) and id(node) not in saved and _of_weights(source, node) for node in ast.walk(one)
    )


def _of_weights(source: Source, call: ast.Call) -> bool:
    return method(call) in _WEIGHTS or library(source, call).startswith("torch._foreach_")


def writes_priorities(each: Slice, loop: TrainingLoop) -> bool:
    """`self.weights[rows] = errors`, where draws are made in proportion to `self.weights`."""
    for source, statement in _statements(each, loop):
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        into = {dotted(target.value) for target in targets if isinstance(target, ast.Subscript)}
        if into & {dotted(node) for node in weighed(source) if isinstance(node, ast.Name | ast.Attribute)}:
            return True
    return False


def saves(each: Slice, loop: TrainingLoop) -> bool:
    """Whether what is worked out is to be saved: `torch.save(net.state_dict(), file)`."""
    source, statement = next(_statements(each, loop), (None, None))
    return source is not None and statement is not None and _is_save(source, getattr(statement, "value", None))


def _is_save(source: Source, node: ast.AST | None) -> bool:
    return isinstance(node, ast.Call) and library(source, node) in SAVES


def works_over_returns(each: Slice, loop: TrainingLoop) -> bool:
    """Whether a function under way works back through time, or the loop that a line stands in."""
    if any(discounts(source, scope, loop.sources.values()) for source, scope in loop.below(each)):
        return True
    for spot in each.stack:
        around = loop.around(line_of(spot))[:1] if spot.kind == "user" else []
        if around and works_back(around[0]) and not loop.holds(spot.file, around[0]):
            return True
    return False
