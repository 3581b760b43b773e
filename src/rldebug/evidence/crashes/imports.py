"""Imports that failed for what the user's own files are and where they lie, and not for what is installed."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.origin import LIBRARIES, is_own, module_of

_UP = 2  # folders above the importing file in which a module of the same project may lie


@dataclass(frozen=True)
class OwnImport:
    kind: str  # elsewhere, relative, circular, no such name, hides
    module: str
    name: str = ""  # that was not found in it
    file: str = ""


def own_import(crash: Crash) -> OwnImport | None:
    """None where no import failed, or where what is missing is none of the user's."""
    if crash.says("attempted relative import"):
        return OwnImport("relative", "")
    named = re.search(r"partially initialized module '([\w.]+)'(?: \(most likely|.* from '([^']+)')?", crash.message)
    named = named or re.search(r"module '([\w.]+)' has no attribute '(\w+)'", crash.message)
    asked = re.search(r"cannot import name '(\w+)' from (?:partially initialized module )?'([\w.]+)'", crash.message)
    path = re.search(r"(?:\(|renaming ')([^()']+\.py)", crash.message)
    module = asked[2] if asked else named[1] if named else ""
    file = path[1] if path and is_own(path[1], module_of(path[1])) else ""
    if module and (hiding := file or _hiding(crash, module)) and _of_a_library(module) and Path(hiding).stem in module:
        return OwnImport("hides", module, file=hiding)
    if "partially initialized module" in crash.message and (file or not _of_a_library(module)):
        return OwnImport("circular", module, asked[1] if asked else "", file)
    if asked and file:
        return OwnImport("no such name", module, asked[1], file)
    missing = re.search(r"No module named '([\w.]+)'", crash.message) if crash.is_a("ModuleNotFoundError") else None
    if missing and not _of_a_library(missing[1]) and (found := _elsewhere(crash, missing[1])):
        return OwnImport("elsewhere", missing[1], file=found)
    return None


def _of_a_library(module: str) -> bool:
    top = module.partition(".")[0]
    return top in LIBRARIES or top in sys.stdlib_module_names


def _folders(crash: Crash) -> Iterator[Path]:
    """Those that hold the user's files, nearest first."""
    for frame in reversed(crash.own):
        folder = Path(frame.file).absolute().parent
        yield from (folder, *list(folder.parents)[:_UP])


def _hiding(crash: Crash, module: str) -> str:
    """A file of the user's, beside one that was running, of the same name as the module."""
    beside = (Path(frame.file).absolute().parent / f"{module.partition('.')[0]}.py" for frame in crash.own)
    return next((str(each) for each in beside if each.is_file()), "")


def _elsewhere(crash: Crash, module: str) -> str:
    """Where a module of that name lies in the user's own project."""
    for folder in _folders(crash):
        below = folder.joinpath(*module.split("."))
        for each in (below.with_suffix(".py"), below / "__init__.py"):
            if each.is_file():
                return str(each)
        if below.is_dir() and any(below.glob("*.py")):
            return str(below)
    return ""
