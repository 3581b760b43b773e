"""Plants a bug: exact text substitutions on a base program, each of which must match exactly once."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import rldebug
from rldebug.finding import Report

ZOO = Path(__file__).parent


def bugs() -> list[str]:
    """Every planted bug, as `component/name`."""
    files = sorted(ZOO.glob("*/*.py"))
    return [
        f"{file.parent.name}/{file.stem}" for file in files if file.parent.name != "bases" and file.stem != "__init__"
    ]


def bug(name: str) -> Any:
    return importlib.import_module(f"tests.zoo.{name.replace('/', '.')}")


def planted_source(base: str, replace: list[tuple[str, str]]) -> str:
    text = (ZOO / "bases" / f"{base}.py").read_text(encoding="utf-8")
    for old, new in replace:
        assert text.count(old) == 1, f"{old!r} occurs {text.count(old)} times in {base}"
        text = text.replace(old, new)
    return text


def run(base: str, replace: list[tuple[str, str]], folder: Path, **train: Any) -> Report:
    """Train the planted program under `rldebug.watch` and return its diagnosis."""
    return next(reports(base, replace, folder, **train))


def reports(base: str, replace: list[tuple[str, str]], folder: Path, **train: Any) -> Iterator[Report]:
    file = str(ZOO / "bases" / f"{base}.py")
    space: dict[str, Any] = {"__name__": f"zoo_{base}", "__file__": file}
    exec(compile(planted_source(base, replace), file, "exec"), space)
    watches = []

    def watch(**arguments: Any) -> rldebug.Watch:
        watches.append(rldebug.watch(folder=folder, quiet=True, **arguments))
        return watches[-1]

    space["train"](watch, **train)
    for each in watches:
        assert not each.broken, each.broken
        yield each.close()
