"""An index that is beyond what it picks from: how great it is, and the space of which environment it fits."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rldebug.evidence.crash import Crash

_ADDS = re.compile(r"\b(scatter_add|scatter_reduce|index_add|index_reduce)_?\(")
_PICKS = re.compile(r"gather\(|one_hot\(|take_along|scatter")
_CLASSES = r"Class values must be (smaller than num_classes|non-negative)"


@dataclass(frozen=True)
class Beyond:
    adds: bool  # numbers are added up at the places: histograms, projected distributions
    name: str  # of the index, where it has one
    index: int | None
    size: int | None  # of what is picked from
    fits: tuple[tuple[str, int], ...]  # the discrete spaces in reach that have such an index, with their n
    spaces: bool  # whether a discrete action space is in reach at all

    @property
    def of_actions(self) -> bool | None:
        """Whether it can be an action by the spaces in reach; None where there are none to tell."""
        if self.index is None or not self.spaces:
            return None
        return any(name.endswith("action_space") for name, _ in self.fits)


def beyond(crash: Crash) -> Beyond | None:
    """None where no index was beyond its end, or where rows of a buffer were read."""
    line = crash.at.source if crash.at is not None else ""
    said = crash.says(
        r"index -?\d+ is out of bounds for dimension",
        _CLASSES,
        r"Target -?\d+ is out of bounds",
        "index out of range in self",
    )
    adds = bool(_ADDS.search(line))
    if not said or not (adds or _PICKS.search(line) or crash.says(r"Target -?\d", _CLASSES)):
        return None
    name, index = _index(crash)
    size = _size(crash, name, index)
    fits, seen = [], False
    for _, env, fact in crash.held("environment"):
        for space in ("action_space", "observation_space"):
            found = re.match(r"Discrete\((\d+)", (fact.get(space) or {}).get("told", ""))
            seen = seen or (found is not None and space == "action_space")
            if found and index is not None and 0 <= index < int(found[1]):
                fits.append((f"{env}.{space}", int(found[1])))
    return Beyond(adds, name, index, size, tuple(dict.fromkeys(fits)), seen)


def _index(crash: Crash) -> tuple[str, int | None]:
    """Name and greatest number; the least, where that is what was refused."""
    whole = {
        name: fact["span"]
        for name, fact in crash.operands().items()
        if fact["kind"] in ("tensor", "array") and "span" in fact
    }
    if found := re.search(r"(?:index|Target) (-?\d+) is out of bounds", crash.message):
        index = int(found[1])
        return next((name for name, span in whole.items() if index in span), ""), index
    low = crash.says("non-negative")
    if whole:
        name, span = next(iter(whole.items()))
        return name, span[0] if low or span[0] < 0 else span[1]
    numbers = _numbers(crash)
    if crash.says(_CLASSES) and numbers:
        name = min(numbers, key=lambda each: numbers[each]) if low else max(numbers, key=lambda each: numbers[each])
        return name, numbers[name]
    return "", None


def _size(crash: Crash, name: str, index: int | None) -> int | None:
    if found := re.search(r"with size (\d+)", crash.message):
        return int(found[1])
    if crash.says(_CLASSES):
        others = [each for other, each in _numbers(crash).items() if other != name and each > 0]
        return others[0] if others and (index is None or index < 0 or others[0] <= index) else None
    logits = [fact["shape"] for fact in crash.operands().values() if fact.get("shape") and "span" not in fact]
    return int(logits[0][-1]) if crash.says(r"Target -?\d") and logits else None


def _numbers(crash: Crash) -> dict[str, int]:
    return {name: fact["value"] for name, fact in crash.operands().items() if fact.get("type") == "int"}
