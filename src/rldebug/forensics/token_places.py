"""Sequences of different lengths, and tensors in which time comes first, brought into one form.

Forensics read batches as (rows, places), with answers that begin at the same place. Programs also learn from sequences
that are filled up on the right, after prompts of different lengths; and from (places, rows).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Event

_TURNED = ("ids", "label", "push", "size", "chance", "values", "gradient")
NO_TOKEN = -1


@dataclass(frozen=True, eq=False)
class Aligned:
    ids: NDArray[np.int32]  # (B, W), answers begin at `start`; NO_TOKEN where there is none
    start: int
    rows: NDArray[np.int64]
    length: NDArray[np.int64]
    ended: NDArray[np.bool_]
    moved: NDArray[np.int64]  # (B,) by how many places each row lies further right than the program has it


def time_first(calls: Sequence[Event], samples: Sequence[Any]) -> bool:
    """Whether the networks that tokens are drawn from are given (places, rows)."""
    across = down = 0
    for order, _, tokens, _ in samples:
        before = next((each for each in reversed(calls) if each.order < order and not each["grad"]), None)
        if before is not None:
            height, width = before.arrays["ids"].shape
            down += len(tokens) == width != height
            across += len(tokens) == height != width
    return down > across


def turned(event: Event) -> Event:
    """With rows first. What was asked about the last place is asked again of the other side."""
    arrays = {name: each.T if name in _TURNED and each.ndim == 2 else each for name, each in event.arrays.items()}
    for name in ("last", "logp"):
        arrays.pop(name, None)
        below = arrays.pop(f"{name}_below", None)
        if below is not None:
            arrays[name] = below.T if name == "logp" else below
    if "scores" in arrays:
        arrays["scores"] = arrays["scores"].swapaxes(0, 1)
    return replace(event, arrays=arrays, detail={**event.detail, "turned": True})


def at_temperature(event: Event, inverse: float | None) -> Event:
    """With the log-probs of scores that are multiplied first."""
    scores = event.arrays.get("scores")
    if scores is None or inverse is None or abs(inverse - 1) < 1e-4:
        return event
    x = inverse * scores[:, :-1].astype(np.float64)
    x = x - x.max(axis=2, keepdims=True)
    x = x - np.log(np.exp(x).sum(axis=2, keepdims=True))
    told = np.take_along_axis(x, event.arrays["ids"][:, 1:, None].astype(np.int64), axis=2)[..., 0]
    return replace(event, arrays={**event.arrays, "logp": told})


def bare(prompts: NDArray[np.int32]) -> list[tuple[int, ...]]:
    """Prompts without what fills them up on the left."""
    fillers = {int(row[0]) for row in prompts if len(row) > 1 and row[0] == row[1]} - {NO_TOKEN}
    found = []
    for row in prompts.tolist():
        first = next((place for place, each in enumerate(row) if each != NO_TOKEN), len(row))
        while len(fillers) == 1 and first < len(row) - 1 and row[first] in fillers:
            first += 1
        found.append(tuple(row[first:]))
    return found


def aligned(ids: NDArray[np.int32], tokens: NDArray[np.int64], prompts: NDArray[np.int32]) -> Aligned | None:
    """The written rows that these are, each found behind its own prompt, wherever that ends."""
    known: dict[tuple[int, ...], list[int]] = {}
    for place, prompt in enumerate(bare(prompts)):
        known.setdefault(prompt, []).append(place)
    sizes = sorted({len(each) for each in known})
    rows, length = (np.full(len(ids), -1, dtype=np.int64) for _ in range(2))
    starts = np.full(len(ids), -1, dtype=np.int64)
    free = set(range(len(tokens)))
    for place, row in enumerate(ids.tolist()):
        best: tuple[int, bool, int, int] | None = None
        for start in range(1, len(row)):
            for size in sizes:
                before = row[: start - size]
                if size > start or any(each != before[0] for each in before):
                    continue
                for at in known.get(tuple(row[start - size : start]), ()):
                    same = _same(row[start:], tokens[at].tolist())
                    if same and (best is None or (same, at in free) > best[:2]):
                        best = (same, at in free, at, start)
        if best is not None:
            length[place], _, rows[place], starts[place] = best
            free.discard(best[2])
    if not (rows >= 0).any():
        return None
    first = int(starts.max())
    moved = np.where(starts >= 0, first - starts, 0)
    found = shifted(ids, moved, NO_TOKEN)
    limit = int((tokens >= 0).sum(axis=1).max())
    ended = (rows >= 0) & (length < limit) & (starts + length < ids.shape[1])
    return Aligned(found, first, rows, length, ended, moved)


def _same(rest: Sequence[int], tokens: Sequence[int]) -> int:
    """How many tokens are those that were written, where one and the same follows them; 0 where others do."""
    count = 0
    for one, other in zip(rest, tokens, strict=False):
        if one != other:
            break
        count += 1
    behind = rest[count:]
    return 0 if any(each != behind[0] for each in behind) else count


def shifted(array: NDArray[Any], moved: NDArray[np.int64], fill: float) -> NDArray[Any]:
    """Each row moved to the right by its own number of places."""
    count, width = array.shape
    found = np.full((count, width + int(moved.max())), fill, dtype=array.dtype)
    for row in range(count):
        found[row, moved[row] : moved[row] + width] = array[row]
    return found


def all_shifted(arrays: Mapping[str, NDArray[Any]], moved: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """What there is for each place of a batch."""
    return {
        name: shifted(each, moved, NO_TOKEN if name == "label" else np.nan if name in ("logp", "values") else 0)
        for name, each in arrays.items()
        if each.ndim == 2 and len(each) == len(moved) and name in (*_TURNED, "logp") and name != "ids"
    }
