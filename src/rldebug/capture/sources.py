"""The text of the program: its script and what it imports from beside it, kept with the run as it was when it ran."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from rldebug.evidence.crashes.origin import is_ours, is_own
from rldebug.evidence.source import SOURCES, SourceError, read_text

_MOST = 200  # files
_LONG = 80  # characters of a text that may be an option


class SourceKeeper:
    """Writes each file once, however often it is asked. What was changed since the program began is not what ran."""

    def __init__(self, folder: Path, began: float) -> None:
        self._file = folder / SOURCES
        self._began = began  # time.time()
        self._kept: set[str] = set()

    def keep(self) -> None:
        new = [each for each in dict.fromkeys(_own_files()) if each not in self._kept][: _MOST - len(self._kept)]
        if not new:
            return
        with self._file.open("a", encoding="utf-8") as out:
            for file in new:
                self._kept.add(file)
                try:
                    if os.stat(file).st_mtime <= self._began:
                        text = read_text(file)
                        out.write(json.dumps({"file": file, "text": text}, ensure_ascii=False) + "\n")
                except (OSError, SourceError):
                    continue  # gone, or no Python: the program knows how it ran it

    def keep_settings(self) -> None:
        """At the end: what plain names of each module are bound to. An option that was off kept a branch from
        running."""
        with self._file.open("a", encoding="utf-8") as out:
            for file, module in _own_modules():
                plain = {name: each for name, each in list(vars(module).items()) if _is_plain(name, each)}
                if file in self._kept and plain:
                    out.write(json.dumps({"file": file, "settings": plain}, ensure_ascii=False) + "\n")


def _is_plain(name: str, value: Any) -> bool:
    if name.startswith("__"):
        return False
    if type(value) is float:
        return math.isfinite(value)
    return value is None or type(value) in (bool, int) or (type(value) is str and len(value) <= _LONG)


def _own_files() -> Iterator[str]:
    for file, _ in _own_modules():
        yield file


def _own_modules() -> Iterator[tuple[str, ModuleType]]:
    main = sys.modules.get("__main__")
    script = os.path.abspath(getattr(main, "__file__", None) or ".")
    beside = (os.path.dirname(script) + os.sep, os.getcwd() + os.sep)
    named = [("__main__", main)] if main is not None else []
    for name, module in [*named, *list(sys.modules.items())]:
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and file.endswith(".py"):
            file = os.path.abspath(file)
            if file.startswith(beside) and is_own(file, name) and not is_ours(file):
                yield file, module
