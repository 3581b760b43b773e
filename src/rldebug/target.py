"""From `path/to/file.py:name` or `package.module:name` to the thing itself, with what is wrong said in words."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import threading
import traceback
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any

PATIENCE = 3.0  # seconds, after which it is said why an import takes so long


class TargetError(Exception):
    """What the user named could not be found, or could not be imported: says which, and what was expected."""


def is_target(text: str) -> bool:
    """Whether it names something in a file or module: `file.py:name`, `module:name`."""
    place, colon, name = text.rpartition(":")
    return bool(colon and place and name.replace(".", "").isidentifier())


def load(text: str) -> Any:
    """The object that `path/to/file.py:name` or `package.module:name` names; `name` may have dots."""
    place, colon, name = text.rpartition(":")
    if not colon or not place or not name:
        raise TargetError(f"{text!r} names nothing: expected path/to/file.py:name or package.module:name")
    module = load_module(place)
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            near = get_close_matches(part, [each for each in dir(found) if not each.startswith("__")], n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise TargetError(f"{place} has no {name}{hint}")
        found = getattr(found, part)
    return found


def load_module(place: str) -> ModuleType:
    """Import a file by its path, or a module by its name; what lies beside it, or here, can be imported by it."""
    if place.endswith(".py") or os.sep in place:
        file = Path(place)
        if not file.is_file():
            raise TargetError(f"{place}: no such file")
        return _from_file(file.resolve())
    if os.getcwd() not in sys.path:  # an installed command does not look into the folder it is called from
        sys.path.insert(0, os.getcwd())
    try:
        return importlib.import_module(place)
    except ModuleNotFoundError as error:
        if error.name is not None and (place == error.name or place.startswith(f"{error.name}.")):
            raise TargetError(f"no module called {place}, looked for from {os.getcwd()}") from error
        raise TargetError(f"{place} could not be imported: {_said(error)}") from error
    except Exception as error:
        raise TargetError(f"{place} could not be imported: {_said(error)}") from error


def _from_file(file: Path) -> ModuleType:
    if str(file.parent) not in sys.path:
        sys.path.insert(0, str(file.parent))
    # By its own name, so that what it pickles or sends to other processes is found again; unless that name is taken.
    name = file.stem if file.stem not in sys.modules else f"rldebug_target_{abs(hash(str(file)))}"
    known = sys.modules.get(file.stem)
    if known is not None and getattr(known, "__file__", None) == str(file):
        return known
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise TargetError(f"{file}: expected a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    told = threading.Timer(PATIENCE, _say_what_runs, (file.name,))
    told.daemon = True
    told.start()
    words, sys.argv = sys.argv, [str(file)]  # one that parses its options as it is imported is given none of ours
    try:
        spec.loader.exec_module(module)
    except BaseException as error:  # a script without a main guard may also call sys.exit()
        sys.modules.pop(name, None)
        if isinstance(error, KeyboardInterrupt):
            raise
        raise TargetError(f"{file.name} could not be imported: {_said(error)}") from error
    finally:
        told.cancel()
        sys.argv = words
    return module


def _say_what_runs(name: str) -> None:
    """A script without a main guard trains to its end before anything of it can be looked at."""
    guard = 'if __name__ == "__main__":'
    print(f"rldebug: {name} is being imported, and runs; what is put beneath `{guard}` would not", file=sys.stderr)


def _said(error: BaseException) -> str:
    """The error, and the line of it that is the user's."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"SyntaxError: {error.msg} ({os.path.relpath(error.filename)}:{error.lineno})"
    frames = [each for each in traceback.extract_tb(error.__traceback__) if not each.filename.startswith("<")]
    theirs = [each for each in frames if os.path.dirname(__file__) not in each.filename]
    where = f" ({os.path.relpath(theirs[-1].filename)}:{theirs[-1].lineno})" if theirs else ""
    return f"{type(error).__name__}: {' '.join(str(error).split())}{where}"
