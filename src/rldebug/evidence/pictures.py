"""What was kept of what networks are given, and of the agent playing: the indexes of `frames/` and `clips/`.

A run folder may come from anywhere: names are checked, links are not followed, and what is not as it should be is left
out.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

_NAME = re.compile(r"\d{6}(-before|-after|-first)?\.png|live\.png")
_INDEX = 4_000_000  # bytes of an index that are read
_VALUES = 64
T = TypeVar("T")


@dataclass(frozen=True)
class Side:
    """One array, before or after."""

    shape: tuple[int, ...]
    dtype: str
    low: float
    high: float
    mean: float
    std: float
    png: Path | None
    values: tuple[float, ...]


@dataclass(frozen=True)
class Look:
    update: int
    env_step: int
    source: str  # network or preprocess
    name: str
    before: Side
    after: Side


@dataclass(frozen=True)
class Clip:
    update: int
    env_step: int
    episode_return: float
    length: int
    frames: int
    ended: str
    env: str
    file: Path
    poster: Path
    width: int
    height: int


def read_looks(folder: Path) -> list[Look]:
    """Oldest first; those whose pictures are still there."""
    return list(_read(folder / "frames", _look))


def read_clips(folder: Path) -> list[Clip]:
    return list(_read(folder / "clips", _clip))


def picture(folder: Path, name: object) -> Path | None:
    """A picture of such a folder, if it is one."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return None
    file = folder / name
    try:
        return file if file.is_file() and not file.is_symlink() and not folder.is_symlink() else None
    except OSError:
        return None


def _read(folder: Path, made: Callable[[Path, Mapping[str, Any]], T]) -> Iterator[T]:
    index = folder / "index.jsonl"
    try:
        if folder.is_symlink() or index.is_symlink() or not index.is_file():
            return
        with index.open("rb") as file:
            lines = file.read(_INDEX).split(b"\n")
    except OSError:
        return
    for line in lines:
        try:
            yield made(folder, json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
            continue  # half written, or not ours


def _look(folder: Path, line: Mapping[str, Any]) -> Look:
    before, after = _side(folder, line["before"]), _side(folder, line["after"])
    if not any((before.png, before.values, after.png, after.values)):
        raise ValueError("its pictures are gone")
    return Look(int(line["update"]), int(line["env_step"]), str(line["source"]), str(line["name"]), before, after)


def _side(folder: Path, side: Mapping[str, Any]) -> Side:
    values = side.get("values") or ()
    return Side(
        shape=tuple(int(each) for each in side["shape"]),
        dtype=str(side["dtype"]),
        low=_number(side["min"]),
        high=_number(side["max"]),
        mean=_number(side["mean"]),
        std=_number(side["std"]),
        png=picture(folder, side.get("png")),
        values=tuple(_number(each) for each in values[:_VALUES]),
    )


def _clip(folder: Path, line: Mapping[str, Any]) -> Clip:
    file = picture(folder, line["file"])
    if file is None:
        raise ValueError("it is gone")
    return Clip(
        update=int(line["update"]),
        env_step=int(line["env_step"]),
        episode_return=_number(line["return"]),
        length=int(line["length"]),
        frames=int(line["frames"]),
        ended=str(line["ended"]),
        env=str(line["env"]),
        file=file,
        poster=picture(folder, line.get("poster")) or file,
        width=int(line["width"]),
        height=int(line["height"]),
    )


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)
