"""Runs a sound program under `rldebug.watch`: it learns, and there is nothing to say about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import rldebug
from tests.zoo import plant


def assert_nothing_found(
    base: str, folder: Path, *, rise: float | None, schedule: dict[str, int] | None = None, **train: Any
) -> None:
    """`rise` is how much the mean return of the last fifth of the episodes is above that of the first fifth, at least:
    a run that does not learn says little about the quiet of the rules. None where so few episodes tell nothing."""
    space: dict[str, Any] = {"__name__": f"zoo_{base}"}
    exec(compile(plant.planted_source(base, []), str(plant.ZOO / "bases" / f"{base}.py"), "exec"), space)
    watches: list[rldebug.Watch] = []

    def watch(**arguments: Any) -> rldebug.Watch:
        watches.append(rldebug.watch(folder=folder, quiet=True, **arguments, **(schedule or {})))
        return watches[-1]

    returns = space["train"](watch, **train)["returns"]
    report = watches[0].close()
    assert not watches[0].broken, watches[0].broken
    assert not report.broken, report.broken
    said = [
        f"{each.severity}[{each.code}] {each.name}: {each.seen}" for each in report.findings if each.severity != "note"
    ]
    assert not said, "\n".join(["a sound program was accused:", *said])
    assert len(report.checked) >= 20, f"only {len(report.checked)} rules had anything to judge"
    if rise is None:
        return
    fifth = max(len(returns) // 5, 1)
    gained = np.mean(returns[-fifth:]) - np.mean(returns[:fifth])
    assert gained >= rise, f"it did not learn: the return rose by {gained:.1f}"
