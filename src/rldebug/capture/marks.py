"""Marks in the program's own text, where it may go round with a world that is no object (syntax/worlds.py): what is
called there is called through a mark, and where its episodes begin the value passes through one.

A file without such a place is compiled as ever. Functions stay what they are: only the places where they are called
are marked, so that it does not matter what decorates, compiles or pickles them. Nothing heavy is imported here: files
are compiled before the program has imported torch.
"""

from __future__ import annotations

import ast
import importlib.machinery
import os
from collections.abc import Callable
from types import CodeType
from typing import Any

from rldebug.capture.place import is_users
from rldebug.syntax.worlds import Place, places

NAME = "__rldebug__"
_LONG = 2_000_000  # characters; longer files are tables


class Mark:
    """What the marks call. Sent elsewhere, with a function that is pickled by value, it only hands on."""

    def __init__(self) -> None:
        self.watch: Any = None
        self.compiling: Callable[[], bool] = bool
        self.places: list[Place] = []

    def step(self, number: int, callee: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        watch = self.watch
        if watch is None or self.compiling() or number in watch.left_alone:
            return callee(*args, **kwargs)
        return watch.step(number, callee, args, kwargs)

    def afresh(self, number: int, which: tuple[int, ...], place: int, value: Any, /) -> Any:
        watch = self.watch
        if watch is not None and not self.compiling() and number not in watch.left_alone:
            watch.afresh(number, which, place, value)
        return value

    def mixed(self, number: int, which: tuple[int, ...], value: Any, /) -> Any:
        watch = self.watch
        if watch is not None and not self.compiling() and number not in watch.left_alone:
            watch.mixed(number, which, value)
        return value

    def entered(self, number: int, which: tuple[int, ...], value: Any, /) -> None:
        watch = self.watch
        if watch is not None and not self.compiling() and number not in watch.left_alone:
            watch.entered(number, which, value)

    def shut(self) -> None:
        self.watch = None

    def __reduce__(self) -> tuple[Any, ...]:
        return Elsewhere, ()


class Elsewhere:
    """In another process: nobody watches there."""

    step = staticmethod(lambda number, callee, /, *args, **kwargs: callee(*args, **kwargs))
    afresh = staticmethod(lambda number, which, place, value, /: value)
    mixed = entered = staticmethod(lambda number, which, value, /: value)


mark = Mark()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=mark.shut)


# ── putting them into the text ──────────────────────────────────────────────────────────────────────────────────────


def begin() -> None:
    """From here on, in every file of the program's own that is imported. All are loaded by one class."""
    loader = importlib.machinery.SourceFileLoader
    original = loader.get_code

    def get_code(self: Any, fullname: str) -> Any:
        if type(self) is loader and is_users(self.path) and self.path.endswith(".py"):
            try:
                code = marked(self.get_data(self.path), self.path)
            except Exception:
                code = None
            if code is not None:
                return code  # never from a cache, nor into one
        return original(self, fullname)

    loader.get_code = get_code  # type: ignore[method-assign]


def code_of(source: bytes, file: str) -> CodeType:
    """The program's script, compiled."""
    try:
        code = marked(source, file)
    except Exception:
        code = None
    return code if code is not None else compile(source, file, "exec", dont_inherit=True)


def marked(source: bytes, file: str) -> CodeType | None:
    """The code of a file with its marks; None where there is nothing to mark."""
    if len(source) > _LONG or not (b"for " in source or b"while " in source):
        return None
    tree = ast.parse(source, file)
    found = places(tree, lambda each: _is_own(each, file))
    if not found:
        return None
    first = len(mark.places)
    mark.places += found
    _Marker(found, first).put_into(tree)
    return compile(tree, file, "exec", dont_inherit=True)


def _is_own(stmt: ast.stmt, file: str) -> bool:
    """Whether an import is of what lies beside the file, or where the program was started."""
    if isinstance(stmt, ast.ImportFrom) and stmt.level:
        return True
    names = [each.name for each in stmt.names] if isinstance(stmt, ast.Import) else [getattr(stmt, "module", "") or ""]
    tops = {each.split(".")[0] for each in names}
    folders = (os.path.dirname(os.path.abspath(file)), os.getcwd())
    return all(
        any(os.path.exists(os.path.join(folder, top + end)) for folder in folders for end in (".py", os.sep))
        for top in tops
    )


class _Marker:
    def __init__(self, found: list[Place], first: int) -> None:
        self.instead: dict[int, list[Callable[[ast.expr], ast.expr]]] = {}
        self.behind: dict[int, list[ast.stmt]] = {}
        self.ahead: dict[int, list[ast.stmt]] = {}
        for number, place in enumerate(found, first):
            self.instead.setdefault(id(place.call), []).append(self.stepped(number))
            for value, which, at in place.afresh:
                self.instead.setdefault(id(value), []).append(self.passed("afresh", value, number, which, at))
            for value, which in place.mixed:
                self.instead.setdefault(id(value), []).append(self.passed("mixed", value, number, which))
            for where, how, stmts in ((self.behind, "mixed", place.written), (self.ahead, "entered", place.given)):
                for stmt, name, which in stmts:
                    told = ast.parse(f"{NAME}.{how}({number}, {which}, {name})").body[0]
                    where.setdefault(id(stmt), []).append(_put_at(told, stmt))

    def stepped(self, number: int) -> Callable[[ast.expr], ast.expr]:
        def make(call: ast.expr) -> ast.expr:
            assert isinstance(call, ast.Call)
            told = ast.parse(f"{NAME}.step({number})", mode="eval").body
            assert isinstance(told, ast.Call)
            made: ast.Call = _put_at(told, call)
            made.args += [call.func, *call.args]
            made.keywords = call.keywords
            return made

        return make

    def passed(self, how: str, at: ast.expr, *given: Any) -> Callable[[ast.expr], ast.expr]:
        def make(value: ast.expr) -> ast.expr:
            told = ast.parse(f"{NAME}.{how}({', '.join(map(repr, given))})", mode="eval").body
            assert isinstance(told, ast.Call)
            made: ast.Call = _put_at(told, at)
            made.args.append(value)
            return made

        return make

    def put_into(self, tree: ast.Module) -> None:
        self.visit(tree)
        named = ast.parse(f"from {__name__} import mark as {NAME}").body[0]
        at = 0
        for at, each in enumerate(tree.body):
            documented = isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant) and at == 0
            if not documented and not (isinstance(each, ast.ImportFrom) and each.module == "__future__"):
                break
        tree.body.insert(at, _put_at(named, tree.body[at]))

    def visit(self, node: ast.AST) -> None:
        for name, value in ast.iter_fields(node):
            if isinstance(value, list):
                setattr(node, name, [each for one in value for each in self.visited(one)])
            elif isinstance(value, ast.AST):
                setattr(node, name, self.visited(value)[-1])

    def visited(self, node: Any) -> list[Any]:
        if not isinstance(node, ast.AST):
            return [node]
        self.visit(node)
        made: Any = node
        for make in self.instead.get(id(node), ()):
            made = make(made)
        return [*self.ahead.get(id(node), ()), made, *self.behind.get(id(node), ())]


def _put_at(made: Any, node: ast.AST) -> Any:
    """Where the other one is, so that lines stay what they are."""
    for each in ast.walk(made):
        if "lineno" in each._attributes:
            ast.copy_location(each, node)
    return made
