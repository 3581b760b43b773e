"""What a buffer gives back, as columns of rows; and which of them is what, by their content."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldebug.oracles.audit.coding import (
    Code,
    Form,
    action_number,
    code_of,
    cut_code_of,
    scalar_number,
)
from rldebug.oracles.audit.names import READ, role

Columns = dict[str, NDArray[Any]]  # path -> (rows, width)


def array_of(value: Any) -> NDArray[Any] | None:
    """As numbers, where it is any; lists of arrays and tensors are stacked."""
    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    if isinstance(value, (bool, int, float, np.generic)):
        return np.asarray(value)
    if isinstance(value, np.ndarray) and value.dtype == object:
        value = list(value.ravel()) if value.ndim == 1 else None
    if isinstance(value, np.ndarray):
        return value if value.dtype.kind in "biuf" else None
    if isinstance(value, (list, tuple)) and value and not _is_record(value[0]):
        parts = [array_of(each) for each in value]
        if any(part is None for part in parts) or len({part.shape for part in parts if part is not None}) != 1:
            return None
        return np.stack([part for part in parts if part is not None])
    return None


def columns(result: Any, rows: int) -> Columns:
    """Every array in what was returned that has `rows` rows, by where it is."""
    found: Columns = {}
    for path, value in _walk(result, rows, ""):
        found[path] = value.reshape(rows, -1)
    return found


def _walk(value: Any, rows: int, path: str) -> Iterator[tuple[str, NDArray[Any]]]:
    here = path or "[0]"
    if isinstance(value, Mapping) or (hasattr(value, "keys") and hasattr(value, "__getitem__")):
        for key in list(value.keys()):
            yield from _walk(value[key], rows, f"{path}.{key}" if path else str(key))
        return
    if _is_record(value):
        for key, each in _items(value):
            yield from _walk(each, rows, f"{path}.{key}" if path else key)
        return
    if hasattr(value, "detach") or isinstance(value, np.ndarray):
        array = array_of(value)
        if array is not None and array.ndim and array.shape[0] == rows:
            yield here, array
        elif isinstance(value, np.ndarray) and value.dtype == object:
            yield from _walk(list(value), rows, path)
        return
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        if len(value) == rows and all(_is_transition(each) for each in value):
            for key, cells in _transposed(value):
                array = array_of(cells)
                if array is not None:
                    yield (f"{path}.{key}" if path else key), array
            return
        array = array_of(value) if len(value) == rows and not _are_fields(value, rows) else None
        if array is not None and array.shape[0] == rows:
            yield here, array
            return
        for number, each in enumerate(value):
            yield from _walk(each, rows, f"{path}[{number}]")


def _are_fields(value: Sequence[Any], rows: int) -> bool:
    """Several columns, and not the rows of one: each has as many rows as was asked for."""
    return all(np.ndim(each) >= 1 and len(each) == rows for each in value if not _is_record(each))


def _is_record(value: Any) -> bool:
    if isinstance(value, tuple):
        return hasattr(value, "_fields")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return True
    if isinstance(value, (Mapping, np.ndarray, str, bytes, Sequence, type)) or hasattr(value, "detach"):
        return False
    return bool(getattr(value, "__dict__", None)) or (hasattr(value, "__slots__") and not np.isscalar(value))


def _items(value: Any) -> list[tuple[str, Any]]:
    if hasattr(value, "_fields"):
        return list(zip(value._fields, value, strict=True))
    if getattr(value, "__dict__", None):
        return [(name, each) for name, each in vars(value).items() if not name.startswith("__")]
    return [(name, getattr(value, name)) for name in getattr(value, "__slots__", ()) if hasattr(value, name)]


def _is_transition(value: Any) -> bool:
    if isinstance(value, Mapping) or _is_record(value):
        return True
    if not isinstance(value, (tuple, list)) or len(value) < 3:
        return False
    shapes = {np.shape(each.detach().cpu() if hasattr(each, "detach") else each) for each in value if each is not None}
    return len(shapes) > 1  # an observation beside a number: not a row of one column


def _transposed(value: Sequence[Any]) -> list[tuple[str, list[Any]]]:
    if isinstance(value[0], Mapping):
        return [(str(key), [each[key] for each in value]) for key in value[0]]
    if _is_record(value[0]):
        rows = [dict(_items(each)) for each in value]
        return [(key, [each.get(key) for each in rows]) for key in rows[0]]
    return [(f"[{number}]", list(cells)) for number, cells in enumerate(zip(*value, strict=False))]


def stacked(calls: Sequence[Columns]) -> Columns:
    """The columns of many calls, one below the other."""
    if not calls:
        return {}
    shared = [
        path
        for path in calls[0]
        if all(path in each and each[path].shape[1:] == calls[0][path].shape[1:] for each in calls)
    ]
    return {path: np.concatenate([each[path] for each in calls]) for path in shared}


def distinct(found: Columns) -> tuple[Columns, list[int]]:
    """Each different row once, and for each row of before, which one it is."""
    rows = len(next(iter(found.values()))) if found else 0
    places: dict[bytes, int] = {}
    keep: list[int] = []
    which: list[int] = []
    for row in range(rows):
        key = b"".join(values[row].tobytes() for values in found.values())
        if key not in places:
            places[key] = len(keep)
            keep.append(row)
        which.append(places[key])
    return {path: values[keep] for path, values in found.items()}, which


def named(path: str) -> str | None:
    """What a column is by its name; None where it has none."""
    parts = [each for each in path.replace("[", ".[").split(".") if each and not each.startswith("[")]
    if not parts:
        return None
    what = role(parts[-1], READ)
    if len(parts) > 1 and parts[-2] in ("next", "next_transition") and what == "obs":
        return "next_obs"
    return what


@dataclass
class Reading:
    """Columns by what they are. Cells are codes or numbers of steps; None where a cell is that of no step."""

    rows: int
    where: dict[str, str] = field(default_factory=dict)  # role -> path
    obs: list[Code | None] | None = None
    next_obs: list[Code | None] | None = None
    action: list[int | None] | None = None
    scalars: dict[str, list[int | None]] = field(default_factory=dict)  # reward, value, logp, …
    flags: dict[str, NDArray[Any]] = field(default_factory=dict)  # path -> (rows,)
    cut: set[str] = field(default_factory=set)  # roles whose numbers lost their fractions
    empty: NDArray[Any] = field(default_factory=lambda: np.zeros(0, dtype=bool))  # rows that are all zeros
    raw: Columns = field(default_factory=dict)
    swapped: bool = False  # what is called obs comes after what is called next_obs


def read(found: Columns, form: Form, scalars: tuple[str, ...] = ("reward",)) -> Reading:
    rows = len(next(iter(found.values()))) if found else 0
    reading = Reading(rows, raw=found)
    size = int(np.prod(form.shape))
    looks: list[tuple[str, list[Code | None]]] = []
    for path, values in found.items():
        hint = named(path)
        if values.shape[1] == size and size > 1:
            codes = [code_of(row, form) for row in values]
            if not _mostly(codes, values):
                codes = [code_of(row * 255.0, form) for row in values]  # pictures that are scaled as they come out
            if not _mostly(codes, values):
                codes = [cut_code_of(row, form) for row in values]
                if not _mostly(codes, values):
                    continue
                reading.cut.add("obs")
            looks.append((path, codes))
            continue
        if hint not in ("index", "weight") and reading.action is None:
            numbers = [action_number(row, form) for row in values]
            if _mostly(numbers, values):
                reading.action, reading.where["action"] = numbers, path
                continue
            if form.actions == "box" and values.shape[1] == 2 and not values.any():
                reading.cut.add("action")
                reading.where["action"] = path
                continue
        if values.shape[1] != 1:
            continue
        column = values[:, 0].astype(np.float64)
        if _scalar(reading, path, column, scalars, hint):
            continue
        if np.all((column == 0) | (column == 1)) and hint not in ("index", "weight", "reward", "priority", "action"):
            reading.flags[path] = column
    _cut_reward(reading, found, scalars)
    _observations(reading, looks)
    used = [found[reading.where["obs"]]] if "obs" in reading.where else [found[path] for path in reading.where.values()]
    reading.empty = np.all([~values.any(axis=1) for values in used], axis=0) if used else np.zeros(rows, dtype=bool)
    return reading


def _mostly(cells: Sequence[Any], values: NDArray[Any], share: float = 0.5) -> bool:
    filled = values.any(axis=1)
    known = np.array([cell is not None for cell in cells])
    return bool(filled.any() and known[filled].mean() > share)


def _scalar(reading: Reading, path: str, column: NDArray[Any], scalars: tuple[str, ...], hint: str | None) -> bool:
    order = [each for each in scalars if each == hint] + [each for each in scalars if each != hint]
    for what in order:
        if what in reading.scalars:
            continue
        if hint in ("advantage", "return", "discount", "weight", "index") and hint != what:
            continue  # at the end of an episode, a return is just the reward
        numbers = [scalar_number(what, value) for value in column]
        if _mostly(numbers, column[:, None], 0.5 if hint == what or len(scalars) == 1 else 0.7):
            reading.scalars[what], reading.where[what] = numbers, path
            return True
    return False


def _cut_reward(reading: Reading, found: Columns, scalars: tuple[str, ...]) -> None:
    if "reward" not in scalars or "reward" in reading.scalars:
        return
    for path, values in found.items():
        hint = named(path)
        if (
            path in reading.where.values()
            or path in reading.flags
            or values.shape[1] != 1
            or hint not in (None, "reward")
        ):
            continue
        column = values[:, 0].astype(np.float64)
        if np.all(column == np.round(column)) and column.max() > 1:
            reading.cut.add("reward")
            reading.where["reward"] = path
            reading.scalars["reward"] = [int(each) if 1 <= each <= 88 else None for each in column]
            return


def _observations(reading: Reading, looks: list[tuple[str, list[Code | None]]]) -> None:
    if not looks:
        return
    if len(looks) == 1:
        path, codes = looks[0]
        what = "next_obs" if named(path) == "next_obs" else "obs"
        reading.where[what] = path
        setattr(reading, what, codes)
        return
    first, second = looks[0], looks[1]
    hints = named(first[0]), named(second[0])
    forward, backward = _follows(first[1], second[1]), _follows(second[1], first[1])
    if hints[0] == "next_obs" or hints[1] == "obs":
        first, second, forward, backward = second, first, backward, forward
        by_name = True
    else:
        by_name = "next_obs" in hints or "obs" in hints
    if backward > forward and backward > 0.9:
        if by_name:
            reading.swapped = True
        first, second = second, first
    reading.where["obs"], reading.obs = first[0], first[1]
    reading.where["next_obs"], reading.next_obs = second[0], second[1]


def _follows(before: Sequence[Code | None], after: Sequence[Code | None]) -> float:
    """How often the second is the next observation of the first."""
    known = [(a, b) for a, b in zip(before, after, strict=True) if a is not None and b is not None]
    return sum(b == (a[0], a[1], a[2] + 1) for a, b in known) / max(len(known), 1)
