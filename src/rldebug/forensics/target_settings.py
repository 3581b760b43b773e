"""γ and λ as the program was told, to be held against those that its targets show."""

from __future__ import annotations

from functools import cache

from rldebug.evidence.script import Script
from rldebug.evidence.synonyms import AMBIGUOUS, NAMES

_OF_MODULE = 1  # as capture/within_reach.py has it


def told(script: Script, concept: str, *, constants: bool = True) -> float | None:
    """The number that settings of this meaning have, where they all have the same one: the options of the program,
    else what lies nearest to where its losses are computed. `constants`: be it one of the module, which may be meant
    for another program in the same file."""
    names = _names(concept)
    values = {
        float(note["value"])
        for note in script.noted("option")
        if str(note.get("name", "")).lower().strip("_") in names
        and isinstance(note.get("value"), (int, float))
        and not isinstance(note.get("value"), bool)
    }
    near = [note for note in script.noted("setting") if note["name"] in names] if not values else []
    near = near if constants else [note for note in near if note["how"] != _OF_MODULE]
    nearest = min((int(note["how"]) for note in near), default=0)
    values |= {round(float(note["value"]), 6) for note in near if note["how"] == nearest}  # some are of float32
    return values.pop() if len(values) == 1 else None


@cache
def _names(concept: str) -> frozenset[str]:
    """Those that mean it for every algorithm."""
    return frozenset(
        name
        for table in NAMES.values()
        for meaning, names in table.items()
        if meaning == concept
        for name in names.split()
        if not name.endswith("?") and (name not in AMBIGUOUS or concept in ("lam", "tau"))
    )


def squared(gamma: float) -> float | None:
    """The round number that γ is the square of, where γ itself is none: 0.9801 is nobody's choice, 0.99 is."""
    root = gamma**0.5 if gamma > 0.5 else 0.0
    odd = abs(gamma - round(gamma, 3)) > 5e-5
    usual = abs(root * 200 - round(root * 200)) < 4e-3  # a multiple of 0.005
    return round(root, 3) if odd and usual and root < 1 else None
