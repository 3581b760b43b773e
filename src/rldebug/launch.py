"""Another program in this process, as `python train.py` or `python -m package` would run it; and how it ends.

Nothing heavy is imported here, nor before the program runs: a script that sets OMP_NUM_THREADS above its `import torch`
must be the first to import torch.
"""

from __future__ import annotations

import atexit
import difflib
import functools
import importlib.machinery
import importlib.util
import os
import runpy
import signal
import sys
import threading
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from rldebug.target import TargetError

_PACKAGE = os.path.dirname(os.path.abspath(__file__))
_CUT = (
    os.path.join(_PACKAGE, "launch.py"),
    os.path.join(_PACKAGE, "run.py"),
    os.path.join(_PACKAGE, "profile.py"),
    os.path.join(_PACKAGE, "capture") + os.sep,
    os.path.join(_PACKAGE, "render", "progress_line.py"),
)
_before: list[types.ModuleType] = []  # the `__main__` that was: what is gone takes its globals along

Compile = Callable[[bytes, str], types.CodeType]


# ── what is to be run ───────────────────────────────────────────────────────────────────────────────────────────────


def check(program: Sequence[str]) -> None:
    """Raises where there is nothing to run: `program` is a script and its arguments, or -m, a module and its own."""
    if not program or (program[0] == "-m" and len(program) < 2):
        raise TargetError("what is to be run? For example: rldebug run train.py --seed 1, or rldebug run -m package")
    if program[0] == "-m":
        _check_module(program[1])
    else:
        _check_script(program[0])


def name_of(program: Sequence[str]) -> str:
    """What a run of it is called."""
    if program[0] == "-m":
        return program[1].removesuffix(".__main__")
    return Path(program[0]).stem or Path(program[0]).resolve().name or "run"


def _check_module(name: str) -> None:
    if name.endswith(".py"):
        raise TargetError(f"-m {name}: expected the name of a module; leave out the -m, or the .py")
    top = name.partition(".")[0]
    try:
        # Looked for as `python -m` looks: first in this folder. The top alone, because looking further imports it.
        found = importlib.machinery.PathFinder.find_spec(top, [os.getcwd()]) or importlib.util.find_spec(top)
    except (ImportError, ValueError):
        found = None
    if found is None:
        raise TargetError(f"-m {name}: no module of that name, looked for from {os.getcwd()}")


def _check_script(script: str) -> None:
    file = Path(script)
    if file.is_dir():
        if (file / "__main__.py").is_file():
            return
        inside = sorted(each.name for each in file.glob("*.py"))
        hint = f": it holds {', '.join(inside[:4])}{' …' if len(inside) > 4 else ''}" if inside else ""
        raise TargetError(f"{script} is a folder without a __main__.py, expected a Python program{hint}")
    if not file.exists():
        raise TargetError(f"{script}: no such file{_near(file)}")
    if file.suffix == ".ipynb":
        raise TargetError(
            f"{script} is a notebook: write it out with `jupyter nbconvert --to script {script}`, and run that"
        )
    start = file.read_bytes()[:1024]  # a file that may not be read is said here
    if start.startswith(b"#!") and b"python" not in start.partition(b"\n")[0]:
        raise TargetError(f"{script} is no Python program: name the one that it runs")
    if b"\0" in start and not start.startswith((b"PK", b"\xff\xfe", b"\xfe\xff")):
        raise TargetError(f"{script} is no Python program, but a binary file")


def _near(file: Path) -> str:
    try:
        beside = [each.name for each in file.parent.iterdir() if each.suffix == ".py" or each.is_dir()]
    except OSError:
        return f": there is no folder {file.parent}" if not file.parent.exists() else ""
    wanted = [file.name, f"{file.name}.py"]
    close = [name for each in wanted for name in difflib.get_close_matches(each, beside, n=1, cutoff=0.6)]
    return f"; did you mean {file.parent / close[-1]}?" if close else ""


# ── running it ──────────────────────────────────────────────────────────────────────────────────────────────────────


def compiled(source: bytes, file: str) -> types.CodeType:
    return compile(source, file, "exec", dont_inherit=True)


def run_as_main(program: Sequence[str], code_of: Compile = compiled) -> None:
    """Run it as `__main__`, with its arguments, what lies beside it first on sys.path. What it raises comes out."""
    sys.orig_argv = [*_interpreter(), *program]
    module = types.ModuleType("__main__")
    vars(module).update(__builtins__=__import__("builtins"), __annotations__={})
    _before.append(sys.modules["__main__"])
    sys.modules["__main__"] = module  # before its code runs: what it pickles is looked up there
    if program[0] == "-m":
        sys.argv = ["-m", *program[2:]]
        _first_on_path(os.getcwd())
        runpy._run_module_as_main(program[1])  # type: ignore[attr-defined]  # what `python -m` itself calls
        return
    sys.argv = list(program)
    # Joined, not tidied: this is what stands in `__file__` and in tracebacks.
    file = os.path.join(os.getcwd(), program[0])
    if _holds_a_program(file):
        sys.path.insert(0, file)
        runpy._run_module_as_main("__main__", False)  # type: ignore[attr-defined]
        return
    _first_on_path(os.path.dirname(os.path.realpath(file)))
    module.__file__ = file
    module.__loader__ = importlib.machinery.SourceFileLoader("__main__", file)
    vars(module)["__cached__"] = None
    with open(file, "rb") as opened:
        source = opened.read()
    exec(code_of(source, file), vars(module))


def _interpreter() -> list[str]:
    """Python and its own options, as it was called."""
    words = sys.orig_argv[: len(sys.orig_argv) - len(sys.argv) + 1]  # up to what it was told to run
    return words[: -2 if words[-2:-1] in (["-m"], ["-c"]) else -1]


def _first_on_path(folder: str) -> None:
    if not getattr(sys.flags, "safe_path", False):  # python -P
        sys.path.insert(0, folder)


def _holds_a_program(path: str) -> bool:
    """A folder or an archive with a __main__.py."""
    if os.path.isdir(path):
        return True
    with open(path, "rb") as file:
        return file.read(4) == b"PK\3\4"


def when_imported(name: str, call: Callable[[], Any]) -> None:
    """Call it as soon as the program's own import of a module is done; now, where it is imported already."""
    if name in sys.modules:
        call()
    else:
        sys.meta_path.insert(0, _Awaited(name, call))


class _Awaited:
    """On sys.meta_path until the module was imported. The module's loader stays its own."""

    def __init__(self, name: str, call: Callable[[], Any]) -> None:
        self.name, self.call = name, call
        self._looking = False

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != self.name or self._looking:
            return None
        self._looking = True
        try:
            found = (each.find_spec(name, path, target) for each in list(sys.meta_path) if hasattr(each, "find_spec"))
            spec = next((each for each in found if each is not None), None)
        finally:
            self._looking = False
        # Programs also ask whether a module is there without importing it: only running it counts.
        loader: Any = getattr(spec, "loader", None)
        if loader is not None and hasattr(loader, "__dict__"):
            loader.exec_module = functools.partial(self._run, loader)
        return spec

    def _run(self, loader: Any, module: types.ModuleType) -> None:
        del loader.exec_module
        loader.exec_module(module)
        if self in sys.meta_path:
            sys.meta_path.remove(self)
            self.call()


# ── what it raises ──────────────────────────────────────────────────────────────────────────────────────────────────


def cut(error: BaseException) -> None:
    """Take our frames out of its traceback, and of those of its causes."""
    seen: set[int] = set()
    ahead: list[BaseException | None] = [error]
    while ahead:
        each = ahead.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        each.__traceback__ = _cut(each.__traceback__)
        ahead += [each.__cause__, each.__context__, *getattr(each, "exceptions", ())]


def _cut(trace: types.TracebackType | None) -> types.TracebackType | None:
    kept: list[types.TracebackType] = []
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith(_CUT):
            kept.append(trace)
        else:
            # A frame of ours amid those of an import keeps the interpreter from taking them out, as it else does.
            while kept and kept[-1].tb_frame.f_code.co_filename.startswith("<frozen importlib"):
                kept.pop()
        trace = trace.tb_next
    for i, each in enumerate(kept):
        each.tb_next = kept[i + 1] if i + 1 < len(kept) else None
    return kept[0] if kept else None


def show(error: BaseException) -> None:
    """Print it as the interpreter prints what nobody caught; by the program's own excepthook where it has one."""
    cut(error)
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
    if sys.version_info >= (3, 12):
        sys.last_exc = error
    hook = getattr(sys, "excepthook", None)
    if hook is None:
        print("sys.excepthook is missing", file=sys.stderr)
        hook = sys.__excepthook__
    try:
        hook(type(error), error, error.__traceback__)
    except SystemExit:
        raise
    except BaseException as another:
        cut(another)
        print("Error in sys.excepthook:", file=sys.stderr)
        sys.__excepthook__(type(another), another, another.__traceback__)
        print("\nOriginal exception was:", file=sys.stderr)
        sys.__excepthook__(type(error), error, error.__traceback__)


# ── how it ends ─────────────────────────────────────────────────────────────────────────────────────────────────────


class Ending:
    """Calls `end` once, in this process alone, however the program ends but for kill -9 and what kills like it.

    `end` is called after the program's threads have ended and after its own atexit functions. It is told how the
    program ended ("", or "os._exit(2)", …) and gives the exit status to leave with, None for the program's own.
    """

    def __init__(self, end: Callable[[str], int | None]) -> None:
        self._end = end
        self._pid = os.getpid()
        self._over = False
        self._real_exit = os._exit
        self._terminate: Any = None
        self._before_fork = threading.local()  # the signals that this thread had blocked
        self.by_signal: int | None = None  # to die by, once all is said

    def install(self, *, terminate: bool = True) -> None:
        # Before the program registers anything: the last to be registered is the first to be called.
        atexit.register(self._at_exit)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self._hold, after_in_parent=self._let_go, after_in_child=self._in_child)
        self._replace_exit()
        self._replace_exec("execv")
        self._replace_exec("execve")
        main_thread = threading.current_thread() is threading.main_thread()
        if terminate and main_thread and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            self._handle_terminate()

    def _call(self, how: str) -> int | None:
        if self._over or os.getpid() != self._pid:
            return None
        self._over = True
        return self._end(how)

    def _at_exit(self) -> None:
        here = os.getpid() == self._pid
        status = self._call("")
        if here and self.by_signal is not None:
            self.die(self.by_signal)
        if status is not None:
            flush()
            self._real_exit(status)

    def _in_child(self) -> None:
        """A forked process is the program's own affair."""
        self._over = True
        self.by_signal = None
        if self._terminate is not None:
            self._restore_terminate()
        self._let_go()

    # A child that is terminated as soon as it is born must die of it: Python forgets what its handlers have caught
    # when it forks, so the signal waits until the child has the handler back that it would have had.

    def _hold(self) -> None:
        self._before_fork.blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])

    def _let_go(self) -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, self._before_fork.blocked)

    def _replace_exit(self) -> None:
        real = self._real_exit

        @functools.wraps(real)
        def _exit(status: int) -> NoReturn:
            instead = self._call(f"os._exit({status})")
            real(status if instead is None else instead)

        os._exit = _exit

    def _replace_exec(self, name: str) -> None:
        real = getattr(os, name, None)
        if real is None:
            return

        @functools.wraps(real)
        def execute(path: Any, *rest: Any) -> Any:
            # One that fails comes back, and the program goes on: most that fail are not there.
            if isinstance(path, int) or os.access(path, os.X_OK):
                self._call(f"os.{name}({os.fsdecode(path) if not isinstance(path, int) else path})")
            return real(path, *rest)

        setattr(os, name, execute)

    def die(self, number: int) -> NoReturn:
        """By a signal, so that whoever started us sees what `python` would show."""
        flush()
        _real_signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        self._real_exit(128 + number)  # where the signal is blocked

    # The program must not see that SIGTERM has a handler: some set their own only where there is none.

    def _handle_terminate(self) -> None:
        def terminate(number: int, frame: Any) -> None:
            self._call("SIGTERM")
            self.die(signal.SIGTERM)

        self._terminate = terminate
        _real_signal(signal.SIGTERM, terminate)
        real_get = signal.getsignal

        @functools.wraps(_real_signal)
        def put(signalnum: Any, handler: Any) -> Any:
            default = handler == signal.SIG_DFL and signalnum == signal.SIGTERM and os.getpid() == self._pid
            before = _real_signal(signalnum, terminate if default else handler)
            return signal.SIG_DFL if before is terminate else before

        @functools.wraps(real_get)
        def get(signalnum: Any) -> Any:
            now = real_get(signalnum)
            return signal.SIG_DFL if now is terminate else now

        self._real_get = real_get
        signal.signal, signal.getsignal = put, get

    def _restore_terminate(self) -> None:
        if self._real_get(signal.SIGTERM) is self._terminate:
            _real_signal(signal.SIGTERM, signal.SIG_DFL)


_real_signal = signal.signal


def run_to_its_end(
    program: Sequence[str], ending: Ending, came_out: Callable[[BaseException], int], code_of: Compile = compiled
) -> NoReturn:
    """Run it, and leave as the interpreter would. What it raises is handed to `came_out`, to be shown; and it gives the
    exit status, but for SystemExit, which has its own."""
    error: BaseException | None = None
    try:
        run_as_main(program, code_of)
    except SystemExit as left:
        came_out(left)
        raise
    except BaseException as raised:
        error = raised
    # Outside of the except: what the program's own excepthook raises has nothing to do with ours.
    if error is None:
        raise SystemExit(0)
    if isinstance(error, KeyboardInterrupt):
        ending.by_signal = signal.SIGINT
    raise SystemExit(came_out(error))


def flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass  # closed, or nobody reads it any more


def as_typed(path: str | Path) -> str:
    """A path as one would type it from here; whole, where it leads elsewhere."""
    short = os.path.relpath(path)
    return str(path) if short.startswith("..") else short
