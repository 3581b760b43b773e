"""In IPython and Jupyter, after `%load_ext rldebug`:

    %%rldebug [NAME]           watch this cell, and show its report below it
    %rldebug attach [NAME]     watch all later cells
    %rldebug report            the diagnosis so far, or the last one; report = %rldebug report keeps it
    %rldebug close             stop watching, and show the diagnosis
    %rldebug                   what is being watched

Every cell that fails is explained below its traceback. The runs stay in .rldebug/runs, for `rldebug report`.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rldebug.attach import Attached
    from rldebug.finding import Report

_WORDS = ("attach", "report", "close")
_USAGE = "expected %rldebug attach [NAME], %rldebug report, %rldebug close, or %%rldebug [NAME] at the top of a cell"


def load(shell: Any) -> None:
    from rldebug.explain import install_in

    install_in(shell)
    shell.register_magic_function(Magic(shell), "line_cell", "rldebug")


def unload(shell: Any) -> None:
    shell.showtraceback = type(shell).showtraceback.__get__(shell)
    for kind in ("line", "cell"):
        magic = shell.magics_manager.magics[kind].pop("rldebug", None)
        if magic is not None:
            magic.close()


class Magic:
    """%rldebug and %%rldebug of one shell."""

    __name__ = "rldebug"
    __doc__ = __doc__

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._dbg: Attached | None = None
        self._last: Report | None = None  # of what was watched before

    def __call__(self, line: str, cell: str | None = None) -> Any:
        __tracebackhide__ = True  # IPython: only the frames of the cell are of interest
        words = line.split()
        if cell is not None:
            return self._watch_cell(words, cell)
        if not words:
            return self._say()
        if words[0] not in _WORDS or len(words) > (2 if words[0] == "attach" else 1):
            raise _usage(f"%rldebug {line}: {_USAGE}")
        if words[0] == "attach":
            return self._attach(words[1] if words[1:] else "notebook")
        if self._dbg is None and words[0] == "report" and self._last is not None:
            return self._last
        if self._dbg is None:
            raise _usage(f"%rldebug {words[0]}: nothing is being watched; begin with %rldebug attach")
        return self._dbg.report() if words[0] == "report" else self.close()

    def close(self) -> Report | None:
        dbg, self._dbg = self._dbg, None
        if dbg is None:
            return None
        self._last = dbg.close()
        return self._last

    def _attach(self, name: str) -> None:
        from rldebug.attach import attach

        if self._dbg is not None:
            raise _usage(f"%rldebug attach: {self._dbg.path.name} is being watched already; %rldebug close ends it")
        self._dbg = attach(name, quiet=True)
        print(f"rldebug watches every later cell, into {_short(self._dbg)}; %rldebug close shows the diagnosis")

    def _say(self) -> None:
        if self._dbg is None:
            print(f"rldebug: nothing is being watched; {_USAGE}")
        else:
            counted = f"{self._dbg.env_steps} env steps, {self._dbg.updates} updates"
            print(f"rldebug watches, into {_short(self._dbg)}: {counted} so far; %rldebug close shows the diagnosis")

    def _watch_cell(self, words: list[str], cell: str) -> Any:
        __tracebackhide__ = True
        from IPython.display import display

        from rldebug.attach import attach

        if words[1:] or any(each.startswith("-") for each in words):
            raise _usage(f"%%rldebug {' '.join(words)}: expected at most a name for the run")
        dbg = attach(words[0] if words else "notebook", quiet=True)
        error: BaseException | None = None
        try:
            return self._execute(cell)
        except BaseException as raised:
            error = raised
            raise
        finally:
            if dbg.joined:
                print("rldebug: all cells are being watched already; %rldebug report shows the diagnosis")
            else:
                self._last = dbg.close(error)
                display(self._last)  # type: ignore[no-untyped-call,unused-ignore]

    def _execute(self, cell: str) -> Any:
        """As the shell runs a cell, but an exception comes out, so that "run all" stops; the value of the last line is
        given back, and so displayed."""
        __tracebackhide__ = True
        shell = self._shell
        code = "\n" + shell.transform_cell(cell)  # the magic is the first line of the cell, as its author counts
        name = shell.compile.cache(code, shell.execution_count, raw_code=cell)  # its lines, for tracebacks and findings
        tree = shell.transform_ast(shell.compile.ast_parse(code, filename=name))
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(shell.compile(tree, name, "exec"), shell.user_ns)
        if last is None:
            return None
        value = eval(shell.compile(ast.Expression(last.value), name, "eval"), shell.user_ns)
        return None if code.rstrip().endswith(";") else value


def _short(dbg: Attached) -> str:
    import os

    return os.path.relpath(dbg.path)


def _usage(text: str) -> Exception:
    """Shown by IPython as one line, without a traceback."""
    from IPython.core.error import UsageError

    error: Exception = UsageError(text)
    return error
