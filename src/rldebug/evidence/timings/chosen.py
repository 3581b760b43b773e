"""What `step()` is given, followed back through the text to where it is worked out."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from rldebug.evidence.source import Source
from rldebug.evidence.timing import Slice, Spot
from rldebug.evidence.timings.nodes import statement_at
from rldebug.evidence.timings.ways import Way
from rldebug.syntax.places import loops_of, scope_of


class Chosen:
    """Statements that work out actions, in the loops that step environments."""

    def __init__(self, steps: Iterable[Way], sources: Mapping[str, Source]) -> None:
        self._sources = sources
        self._statements: set[ast.stmt] = set()
        for file, _, line in {way[-1] for way in steps}:
            source = sources.get(file)
            statement = statement_at(source, Spot(file, "", line)) if source is not None else None
            if source is not None and statement is not None:
                self._statements |= _leading_to(source, statement)

    def works_out(self, each: Slice) -> bool:
        """Whether one of the lines that lead there is part of it."""
        for spot in each.stack:
            source = self._sources.get(spot.file) if spot.kind == "user" else None
            if source is not None and statement_at(source, spot) in self._statements:
                return True
        return False


def _leading_to(source: Source, step: ast.stmt) -> set[ast.stmt]:
    """Assignments to what a step is given, and to what that is worked out from; not what it returned."""
    around = loops_of(source, step)[:1]
    if not around:
        return set()
    own = _stored(step)
    wanted = {name for call in ast.walk(step) if isinstance(call, ast.Call) for name in _given(call)} - own
    before = [
        each
        for each in ast.walk(around[0])
        if isinstance(each, ast.Assign | ast.AugAssign | ast.AnnAssign)
        and each.lineno < step.lineno
        and scope_of(source, each) is scope_of(source, step)
    ]
    found: set[ast.stmt] = set()
    while more := {each for each in before if _stored(each) & wanted} - found:
        found |= more
        wanted |= {name for each in more for name in _read(each)} - own
    return found


def _given(call: ast.Call) -> set[str]:
    return {name for each in (*call.args, *(one.value for one in call.keywords)) for name in _read(each)}


def _read(node: ast.AST) -> set[str]:
    """Names of values; not of what is called, or asked for something of its own."""
    asked = {id(each.value) for each in ast.walk(node) if isinstance(each, ast.Attribute)}
    called = {id(each.func) for each in ast.walk(node) if isinstance(each, ast.Call)}
    return {
        each.id
        for each in ast.walk(node)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load) and id(each) not in asked | called
    }


def _stored(statement: ast.stmt) -> set[str]:
    """Names that it assigns, or assigns rows of."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    found = [each for target in targets if target is not None for each in ast.walk(target)]
    rows = [each.value for each in found if isinstance(each, ast.Subscript)]
    return {
        each.id for each in found if isinstance(each, ast.Name) and (isinstance(each.ctx, ast.Store) or each in rows)
    }
