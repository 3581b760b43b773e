"""Settings that a program was given and no line of it uses, by what their names mean to everybody."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from rldebug.evidence.script import Script
from rldebug.evidence.synonyms import AMBIGUOUS, NAMES
from rldebug.finding import Where


@dataclass(frozen=True)
class Unread:
    name: str
    value: Any
    where: str  # "argparse", "dataclass", "class", "constant", "parameter"
    holder: str  # the class, or the function that takes it
    line: tuple[str, int] | None
    shown: int  # how often it is printed

    @property
    def place(self) -> Where:
        return Where(file=self.line[0], line=self.line[1]) if self.line else Where()

    @property
    def seen(self) -> str:
        given = (
            "" if self.value is None else f" = {self.value:g}" if isinstance(self.value, float) else f" = {self.value}"
        )
        printed = f"; it is only printed ({self.shown} times)" if self.shown else ""
        if self.where == "parameter":
            return f"{self.holder}() takes `{self.name}`{given} and never looks at it{printed}"
        kind = {"argparse": "the option", "constant": "the constant"}.get(self.where, f"the field of {self.holder}")
        return f"{kind} `{self.name}`{given} is read in no line of the program{printed}"


def unread(script: Script, *concepts: str, also: frozenset[str] = frozenset()) -> list[Unread]:
    """Settings that mean one of these and are used nowhere. Numbers only; none where the source could not be judged.

    `also`: names that mean it where the rest of the program says so.
    """
    names = _names(concepts) | also
    found = []
    for note in script.noted("option"):
        if note.get("read") != 0 or str(note.get("name", "")).lower().strip("_") not in names:
            continue
        value = note.get("value")
        if isinstance(value, (bool, str)) or (value is None and note["where"] != "parameter"):
            continue
        line = note.get("line")
        found.append(
            Unread(
                note["name"],
                value,
                note["where"],
                note.get("holder") or "",
                (line[0], line[1]) if line else None,
                int(note.get("shown") or 0),
            )
        )
    return found


@cache
def _names(concepts: tuple[str, ...]) -> frozenset[str]:
    """Every name that surely means one of these, whatever the algorithm."""
    return frozenset(
        name
        for table in NAMES.values()
        for concept, names in table.items()
        if concept in concepts
        for name in names.split()
        if not name.endswith("?") and name not in AMBIGUOUS
    )
