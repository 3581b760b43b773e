"""Runs a program with one of its functions replaced by the oracle's, in a process of its own: `main()`.

Where the function is defined, it is wrapped: whoever imports it, calls it, or has it as a method gets the wrapped one,
also where the script itself defines it. Besides, it is written down how often the function was called, what episodes
were worth, and which folders rldebug.watch recorded runs in. For all else the program runs as `python train.py` does.
"""

from __future__ import annotations

import ast
import functools
import importlib.machinery
import json
import os
import sys
import threading
import types
import weakref
from collections.abc import Callable, Mapping
from typing import Any

from rldebug.launch import compiled, run_as_main

START = "import sys; sys.path[0] = {root!r}; from rldebug.oracles.runner import main; main()"
MARKS = {"counted": ".", "same": "=", "different": "x", "raised": "!"}
"""One character for each call of the function, in the file `calls`."""

_orders: dict[str, Any] = {}
_inside = threading.local()


def main() -> None:
    """Called with the file of orders, the program and its arguments on the command line, where `-c` was."""
    orders, *program = sys.argv[1:]
    with open(orders, encoding="utf-8") as file:
        _orders.update(json.load(file))
    _install()
    # What was put there so that this module is found goes to the end: the program finds its own things first.
    root = sys.path.pop(0)
    if root not in sys.path:
        sys.path.append(root)
    run_as_main(program, lambda source, file: (_wrapped if _is_defined_in(file) else compiled)(source, file))


# ── where the function is defined ───────────────────────────────────────────────────────────────────────────────────


def _install() -> None:
    """All source files are loaded by one class, by whichever way they were found."""
    loader = importlib.machinery.SourceFileLoader
    get_code, exec_module = loader.get_code, loader.exec_module
    after: Mapping[str, Callable[[Any], None]] = {"gymnasium.core": _see_episodes, "rldebug.record": _see_runs}

    def code_of(self: Any, name: str) -> Any:
        if not _is_defined_in(self.path):
            return get_code(self, name)
        return _wrapped(self.get_data(self.path), self.path)  # never from a cache

    def run(self: Any, module: Any) -> None:
        exec_module(self, module)
        if module.__name__ in after:
            after[module.__name__](module)

    loader.get_code = code_of  # type: ignore[method-assign, assignment]
    loader.exec_module = run  # type: ignore[method-assign]


def _is_defined_in(file: str) -> bool:
    wanted = str(_orders["file"])
    return os.path.basename(file) == os.path.basename(wanted) and os.path.realpath(file) == wanted


def _wrapped(source: bytes, file: str) -> types.CodeType:
    """The file's code, with a decorator over the function. Lines stay where they are."""
    tree = ast.parse(source, file)
    node = definition(tree, _orders["name"], _orders["line"])
    if node is not None:
        text = f"__import__({__name__!r}, fromlist=['replaced']).replaced"
        decorator = ast.parse(text, mode="eval").body
        for each in ast.walk(decorator):
            if isinstance(each, ast.expr):
                ast.copy_location(each, node)
        node.decorator_list.insert(0, decorator)
    return compile(tree, file, "exec", dont_inherit=True)


def definition(tree: ast.AST, name: str, line: int) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The `def` of this name that begins on this line, with its decorators."""
    for node in ast.walk(tree):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or node.name != name:
            continue
        if min([node.lineno, *(each.lineno for each in node.decorator_list)]) == line:
            return node
    return None


def replaced(function: Any) -> Any:
    """The decorator."""
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(replaced(function.__func__))
    made: list[Callable[..., Any]] = []

    @functools.wraps(function)
    def instead(*given: Any, **named: Any) -> Any:
        if getattr(_inside, "busy", False):  # it calls itself: the outer call is the one that is replaced
            return function(*given, **named)
        if not _orders["replace"]:
            _note("calls", MARKS["counted"])
            return function(*given, **named)
        _inside.busy = True
        try:
            if not made:
                made.append(_stand_in(function))
            return made[0](*given, **named)
        except Exception as error:
            if not made or type(error).__name__ == "StandInError":
                _note("trouble", " ".join(f"{error or type(error).__name__}".split()) + "\n")
            raise
        finally:
            _inside.busy = False

    return instead


def _stand_in(function: Callable[..., Any]) -> Callable[..., Any]:
    from rldebug.oracles.plan import Plan
    from rldebug.oracles.shelf import find
    from rldebug.oracles.stand_in import stand_in

    plan = Plan.from_dict(_orders["plan"])
    return stand_in(function, find(_orders["oracle"]), plan, lambda how: _note("calls", MARKS[how]))


# ── what is written down ────────────────────────────────────────────────────────────────────────────────────────────


def _note(name: str, text: str) -> None:
    """Appended at once: the program may be killed, and may have several processes."""
    file = os.open(os.path.join(_orders["folder"], name), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        os.write(file, text.encode())
    finally:
        os.close(file)


def _see_runs(record: Any) -> None:
    """Where rldebug.watch records."""
    new_run_folder = record.new_run_folder

    @functools.wraps(new_run_folder)
    def noted(*given: Any, **named: Any) -> Any:
        folder = new_run_folder(*given, **named)
        _note("runs", f"{os.path.abspath(folder)}\n")
        return folder

    record.new_run_folder = noted


def _see_episodes(core: Any) -> None:
    """Every environment class defined from now on adds up its rewards; an episode is over when the next one begins."""
    worth: weakref.WeakKeyDictionary[Any, list[float]] = weakref.WeakKeyDictionary()
    own = vars(core.Env).get("__init_subclass__")

    def seen(kind: Any, /, **more: Any) -> None:
        if own is not None:
            own.__get__(None, kind)(**more)
        else:
            super(core.Env, kind).__init_subclass__(**more)
        if issubclass(kind, core.Wrapper):
            return
        if "step" in vars(kind):
            kind.step = _counted_step(vars(kind)["step"], worth)
        if "reset" in vars(kind):
            kind.reset = _counted_reset(vars(kind)["reset"], worth)

    core.Env.__init_subclass__ = classmethod(seen)


def _counted_step(step: Any, worth: Any) -> Any:
    @functools.wraps(step)
    def counted(self: Any, *given: Any, **named: Any) -> Any:
        answer = step(self, *given, **named)
        try:
            total = worth.setdefault(self, [0.0, 0.0])
            if type(self).step is counted:  # not one that a subclass of its own calls
                total[0] += float(answer[1])
                total[1] += 1
        except Exception:  # an environment that cannot be kept, or gives no reward
            pass
        return answer

    return counted


def _counted_reset(reset: Any, worth: Any) -> Any:
    @functools.wraps(reset)
    def counted(self: Any, *given: Any, **named: Any) -> Any:
        try:
            total = worth.pop(self, None)
            if total is not None and total[1]:
                _note("returns", f"{total[0]!r}\n")
        except Exception:
            pass
        return reset(self, *given, **named)

    return counted
