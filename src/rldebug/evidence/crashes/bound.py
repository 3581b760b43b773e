"""Where a name in a failing line got its value: by the text of the program, back through the calls that handed it on.

The text is read when it is asked for. A file that has been changed since the crash is not believed.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from rldebug.evidence.crash import Crash, Frame

Function = ast.FunctionDef | ast.AsyncFunctionDef
_CALLS = 6  # levels of calls that a value is followed through


@dataclass(frozen=True)
class Bound:
    """The statement that a name was last bound by."""

    file: str
    line: int
    text: str  # of the value
    value: ast.expr
    within: str = ""  # the class
    name: str = ""  # as it is called there

    @property
    def place(self) -> str:
        return f"{Path(self.file).name}:{self.line}"


def bound(crash: Crash, frame: Frame | None, name: str) -> Bound | None:
    """Where `name` of a frame was made. An argument is followed to the call, and a field to its class."""
    frames = list(crash.frames)
    place = next((at for at, each in enumerate(frames) if each is frame), -1)
    for _ in range(_CALLS):
        if place < 0 or (tree := tree_of(frames[place])) is None:
            return None
        function = function_at(tree, frames[place])
        if (found := _bound(tree, function, frames[place], name)) is not None:
            return found
        first, dot, rest = name.partition(".")
        if not isinstance(function, Function) or first not in _parameters(function):
            return None
        place = next((at for at in reversed(range(place)) if frames[at].own), -1)
        given = _given(frames[place], function, first) if place >= 0 else None
        if isinstance(given, ast.Name | ast.Attribute):
            name = ast.unparse(given) + dot + rest
        elif given is not None and not rest:
            return Bound(frames[place].file, frames[place].line, _short(given), given)
        else:
            return None
    return None


def origin(crash: Crash, frame: Frame | None, name: str) -> Bound | None:
    """The same, and on into the one function of the file that gave it: for `obs, act = batch()` the line in batch()."""
    found = bound(crash, frame, name)
    for _ in range(_CALLS):
        inner = _inside(found) if found is not None else None
        if inner is None:
            return found
        found = inner
    return found


def _inside(found: Bound) -> Bound | None:
    call = found.value
    if not isinstance(call, ast.Call) or not (called := _dotted(call.func).rpartition(".")[2]):
        return None
    tree = _parsed("".join(linecache.getlines(found.file)))
    functions = [each for each in ast.walk(tree) if isinstance(each, Function) and each.name == called] if tree else []
    backs = [each for one in functions for each in ast.walk(one) if isinstance(each, ast.Return) and each.value]
    if len(functions) != 1 or len(backs) != 1:
        return None
    value: ast.expr = backs[0].value  # type: ignore[assignment]
    place = _place_in(found)
    if isinstance(value, ast.Tuple):
        if place is None or place >= len(value.elts):
            return None
        value = value.elts[place]
    made = [each for each in bindings(functions[0], _dotted(value)) if each[0].lineno <= backs[0].lineno]
    if not isinstance(value, ast.Name) or not made:
        return None
    statement, value_of = max(made, key=lambda each: each[0].lineno)
    return Bound(found.file, statement.lineno, _short(value_of), value_of, found.within, value.id)


def _place_in(found: Bound) -> int | None:
    """Which of the names of an unpacking it is."""
    for statement, value in bindings(
        _parsed("".join(linecache.getlines(found.file))) or ast.Module([], []), found.name
    ):
        if value.lineno == found.value.lineno and isinstance(statement, ast.Assign):
            target = statement.targets[0]
            names = [_dotted(each) for each in target.elts] if isinstance(target, ast.Tuple) else []
            return names.index(found.name) if found.name in names else None
    return None


def tree_of(frame: Frame) -> ast.Module | None:
    """The parsed file; None where it cannot be read, or has another line by now where the program failed."""
    lines = linecache.getlines(frame.file)
    if not 0 < frame.line <= len(lines) or not lines[frame.line - 1].strip().startswith(frame.source):
        return None
    return _parsed("".join(lines))


def class_named(crash: Crash, name: str) -> tuple[str, ast.ClassDef] | None:
    """A class of the user's own, with its file: looked for in the files of the traceback."""
    for frame in reversed(crash.own):
        tree = tree_of(frame)
        for node in ast.walk(tree) if tree else ():
            if isinstance(node, ast.ClassDef) and node.name == name:
                return frame.file, node
    return None


def class_in(file: str, line: int) -> ast.ClassDef | None:
    """The innermost class around a line of a file."""
    tree = _parsed("".join(linecache.getlines(file)))
    return _class_at(tree, line) if tree is not None else None


def function_at(tree: ast.Module, frame: Frame) -> ast.AST:
    """The function that a frame was in; the module for its top level, and where no function has that name."""
    around = [
        each
        for each in ast.walk(tree)
        if isinstance(each, Function) and each.name == frame.function and _holds(each, frame.line)
    ]
    return max(around, key=lambda each: each.lineno, default=tree)


def bindings(scope: ast.AST, name: str) -> Iterator[tuple[ast.stmt, ast.expr]]:
    """The statements below a scope that bind a name, with what they bind it to."""
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign):
            parts = [part for each in node.targets for part in ast.walk(each)]
            if any(_dotted(each) == name for each in parts):
                yield node, node.value
        elif isinstance(node, ast.AnnAssign | ast.AugAssign) and node.value is not None:
            if _dotted(node.target) == name:
                yield node, node.value
        elif isinstance(node, ast.For | ast.AsyncFor) and any(_dotted(each) == name for each in ast.walk(node.target)):
            yield node, node.iter


def _class_at(tree: ast.Module, line: int) -> ast.ClassDef | None:
    around = [each for each in ast.walk(tree) if isinstance(each, ast.ClassDef) and _holds(each, line)]
    return max(around, key=lambda each: each.lineno, default=None)


def _bound(tree: ast.Module, function: ast.AST, frame: Frame, name: str) -> Bound | None:
    inner = {
        id(part)
        for each in ast.walk(function)
        if isinstance(each, Function) and each is not function
        for part in ast.walk(each)
    }
    found = sorted(
        (each for each in bindings(function, name) if id(each[0]) not in inner), key=lambda each: each[0].lineno
    )
    # `x = f(x)` that fails binds nothing. What stands behind the line ran before it only in a loop: the second choice.
    before = [each for each in found if each[0].lineno <= frame.line and not _fails(each[0], frame.line)]
    behind = [each for each in found if each[0].lineno > frame.line]
    within, chosen = _class_at(tree, frame.line), before[-1:] or behind[-1:]
    if not chosen and name.startswith("self.") and within is not None:
        chosen = sorted(bindings(within, name), key=lambda each: each[0].lineno)[-1:]
    if not chosen and isinstance(function, Function) and "." not in name and name not in _parameters(function):
        chosen = [each for each in bindings(tree, name) if each[0] in tree.body][-1:]
    if not chosen:
        return None
    statement, value = chosen[0]
    return Bound(frame.file, statement.lineno, _short(value), value, within.name if within else "", name)


def _fails(statement: ast.stmt, line: int) -> bool:
    return isinstance(statement, ast.Assign) and _holds(statement, line)


def _parameters(function: Function) -> list[str]:
    given = function.args
    return [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]


def _given(frame: Frame, function: Function, name: str) -> ast.expr | None:
    """What a call gave for a parameter. Methods and modules hide their first one."""
    try:
        call = ast.parse(frame.expression.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        return None
    if not isinstance(call, ast.Call) or any(isinstance(each, ast.Starred) for each in call.args):
        return None
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    names = _parameters(function)
    place = names.index(name) - (1 if names[0] in ("self", "cls") else 0)
    return call.args[place] if 0 <= place < len(call.args) else None


def _dotted(node: ast.AST) -> str:
    return ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) else ""


def _holds(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _short(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 80 else f"{text[:79]}…"


@lru_cache(maxsize=64)
def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None
