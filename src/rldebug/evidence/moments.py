"""Moments in which a program saved: what lies in all the files of one moment together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from rldebug.evidence.script import Script
from rldebug.finding import Where


@dataclass(frozen=True)
class Held:
    """Of one optimizer, in the files of one moment."""

    state: int  # tensors of its state that were saved,
    of: int  # and that it has
    weights: int
    lacking: frozenset[int] | None  # places of the weights in none of the files; None: not known
    shapes: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    steps: int = 0  # that it has taken; 0: not known

    @property
    def saved(self) -> bool:
        return self.of > 0 and self.state >= 0.9 * self.of

    @property
    def unsaved(self) -> bool:
        return self.of > 0 and self.state == 0


@dataclass(frozen=True)
class Moment:
    update: int
    files: tuple[str, ...]
    where: Where
    whole: bool  # everything in the files was looked at
    modules: Mapping[str, tuple[int, int]]  # tensors found, of
    optimizers: Mapping[str, Held]

    def has(self, module: str) -> bool:
        found, of = self.modules.get(module, (0, 0))
        return of > 0 and found == of


def moments(script: Script) -> list[Moment]:
    """A checkpoint may be spread over several files: those that were written between the same two updates."""
    groups: dict[int, list[Mapping[str, Any]]] = {}
    for note in script.noted("save"):
        groups.setdefault(int(note["update"]), []).append(note)
    found = [_moment(update, notes) for update, notes in sorted(groups.items())]
    retired = set[str]()
    told = found[:1]
    for last, moment in pairwise(found):
        retired |= _retired(last.optimizers, moment.optimizers)
        living = {name: held for name, held in moment.optimizers.items() if name not in retired}
        told.append(replace(moment, optimizers=living))
    return told


def _retired(before: Mapping[str, Held], now: Mapping[str, Held]) -> set[str]:
    """Optimizers that took no step since, while a new one did: training went on without them, as after a restart."""
    if not any(name not in before and held.steps for name, held in now.items()):
        return set()
    return {name for name, held in now.items() if name in before and held.steps == before[name].steps > 0}


def _moment(update: int, notes: list[Mapping[str, Any]]) -> Moment:
    modules: dict[str, tuple[int, int]] = {}
    optimizers: dict[str, Held] = {}
    for note in notes:
        for name, (found, of) in note["modules"].items():
            modules[name] = (max(found, modules.get(name, (0, 0))[0]), of)
        for name, held in note["optimizers"].items():
            before = optimizers.get(name)
            lacking = None if held["lacking"] is None else frozenset(held["lacking"])
            if before is not None and lacking is not None and before.lacking is not None:
                lacking &= before.lacking
            optimizers[name] = Held(
                max(held["of"] if held["whole"] else held["state"], before.state if before else 0), held["of"],
                held["weights"], lacking,
                dict(zip(held["lacking"] or (), map(tuple, held["shapes"]), strict=False)),
                int(held.get("steps") or 0),
            )  # fmt: skip
    line = next((note["line"] for note in notes if note.get("line")), None)
    where = Where(file=line[0], line=line[1], update=update) if line else Where(update=update)
    return Moment(
        update, tuple(dict.fromkeys(str(note["file"]) for note in notes)), where, all(note["whole"] for note in notes),
        modules, optimizers,
    )  # fmt: skip


def saved_here(script: Script, file: str, before: int) -> bool:
    """Whether a file that was loaded had been written by this very run."""
    return any(note["file"] == file and int(note["update"]) <= before for note in script.noted("save"))
