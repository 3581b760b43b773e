"""Lines of a file that may be huge, growing or hostile: read in pieces, thinned evenly, never held whole."""

from __future__ import annotations

import errno
import os
import re
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Generic, TypeVar

PIECE = 1 << 18
LONGEST = 4_000_000  # bytes of a line; a longer one is left out
_LOOK = 1 << 14  # bytes read at a place in the file, and again until a whole line is there
_FAR = 1 << 18
_FIRST = 1000  # lines with facts, and lines with a number that is none, that are kept before any thinning
_ODD = re.compile(rb':\s*"?-?(?:nan|NaN|inf|Infinity)\b')
_ODD_PARTS = (b"nan", b"NaN", b"inf", b"Inf")

T = TypeVar("T")


def open_plain(file: Path) -> IO[bytes]:
    """Open a plain file. A link, a pipe, a device or a folder raises OSError before it can block or lead astray."""
    _refuse(file, os.lstat(file).st_mode)
    wanted = ("O_BINARY", "O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK")  # what there is of them on this system
    flags = os.O_RDONLY
    for each in wanted:
        flags |= getattr(os, each, 0)
    handle = os.open(file, flags)
    opened = os.fdopen(handle, "rb", buffering=0)
    try:
        _refuse(file, os.fstat(handle).st_mode)  # it may have been exchanged since
    except OSError:
        opened.close()
        raise
    return opened


def _refuse(file: Path, mode: int) -> None:
    if stat.S_ISREG(mode):
        return
    kinds = {stat.S_IFLNK: "a symbolic link, which is not followed", stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe"}
    found = kinds.get(stat.S_IFMT(mode), "a device")
    raise OSError(errno.EINVAL, f"expected a plain file, found {found}", str(file))


def read_small(file: Path) -> bytes:
    """A whole file that is not longer than a line may be."""
    with open_plain(file) as opened:
        size = os.fstat(opened.fileno()).st_size
        if size > LONGEST:
            raise ValueError(f"it has {size:,} bytes, at most {LONGEST:,} are read")
        pieces = []
        while piece := opened.read(PIECE):
            pieces.append(piece)
            if sum(map(len, pieces)) > LONGEST:
                raise ValueError(f"it grows beyond {LONGEST:,} bytes")
    return b"".join(pieces)


class Splitter:
    """Whole lines out of pieces. A line longer than LONGEST is dropped while it comes, and stands there as None."""

    def __init__(self) -> None:
        self.rest = b""
        self.dropping = False

    def feed(self, piece: bytes) -> list[bytes | None]:
        lines: list[bytes | None] = []
        *whole, self.rest = (self.rest + piece).split(b"\n")
        lines += whole
        if whole and (self.dropping or len(whole[0]) > LONGEST):
            lines[0], self.dropping = None, False
        if self.dropping or len(self.rest) > LONGEST:
            self.rest, self.dropping = b"", True
        return lines


class Spread(Generic[T]):
    """Some of many, evenly spread: one in `stride`, which doubles whenever they are halved."""

    def __init__(self) -> None:
        self.seen, self.stride, self.weight = 0, 1, 0
        self.kept: list[tuple[int, int, T]] = []  # where it stood, its weight, itself

    def turn(self) -> bool:
        """Count one more; True where it is one to keep."""
        due = self.seen % self.stride == 0
        self.seen += 1
        return due

    def keep(self, place: int, weight: int, what: T) -> None:
        self.kept.append((place, weight, what))
        self.weight += weight

    def halve(self) -> None:
        self.kept = self.kept[::2] if len(self.kept) > 1 else []
        self.weight = sum(weight for _, weight, _ in self.kept)
        self.stride *= 2


@dataclass
class Named:
    """What was left out: the first few by name, the rest by number."""

    most: int
    first: list[str] = field(default_factory=list)
    more: int = 0

    def add(self, problem: str) -> None:
        if len(self.first) < self.most:
            self.first.append(problem)
        else:
            self.more += 1

    def all(self) -> tuple[str, ...]:
        return (*self.first, f"{self.more:,} more such lines were left out") if self.more else tuple(self.first)


@dataclass
class Sample:
    """Lines of a file with their numbers. None stands for one that was too long."""

    lines: list[tuple[int, bytes | None]]
    total: int  # lines in the file that are not empty
    cut: int  # number of a last line without an end, else 0


def sample(file: IO[bytes], most: int, weight: int) -> Sample:
    """All lines of a file; where they are more than `most`, or heavier than `weight` bytes, some of them.

    Those are evenly spread, with the newest, the first ones that have facts, and the first ones with a NaN or an
    infinity.
    """
    splitter, spread = Splitter(), Spread[bytes | None]()
    facts: list[tuple[int, bytes | None]] = []
    odd: list[tuple[int, bytes | None]] = []
    newest: tuple[int, bytes | None] = (0, b"")
    total = 0
    for number, line, with_facts, with_odd in _numbered(file, splitter):
        if line == b"":
            continue
        total += 1
        newest = (number, line)
        if spread.turn():
            spread.keep(number, len(line or b""), line)
            while len(spread.kept) > most or (spread.weight > weight and len(spread.kept) > 1):
                spread.halve()
        if line is not None and len(line) <= weight // (4 * _FIRST):
            if with_facts and len(facts) < _FIRST and b'"facts"' in line:
                facts.append(newest)
            if with_odd and len(odd) < _FIRST and _ODD.search(line):
                odd.append(newest)
    found = [(number, line) for number, _, line in spread.kept]
    if spread.stride > 1:
        found = sorted(dict([*found, *facts, *odd, newest]).items())
    return Sample(found, total, newest[0] if splitter.rest else 0)


def _numbered(file: IO[bytes], splitter: Splitter) -> Iterator[tuple[int, bytes | None, bool, bool]]:
    """Each line with its number, and whether facts or odd numbers may be in it: what holds for a piece at once."""
    number, left = 0, os.fstat(file.fileno()).st_size
    while left > 0 and (piece := file.read(min(PIECE, left))):
        left -= len(piece)
        text = splitter.rest + piece
        with_facts, with_odd = b'"facts"' in text, any(each in text for each in _ODD_PARTS)
        for line in splitter.feed(piece):
            number += 1
            yield number, line, with_facts, with_odd
    if splitter.rest or splitter.dropping:
        yield number + 1, None if splitter.dropping else splitter.rest, True, True


def glimpse(file: IO[bytes], size: int, count: int, seconds: float) -> list[tuple[int, bytes]]:
    """Lines at places spread over a file, with where they begin; the newest is among them.

    Places are taken in an order that is spread over the file from the start, so that running out of time costs
    detail and not an end.
    """
    until = time.monotonic() + seconds
    found: dict[int, bytes] = {}
    file.seek(max(size - _FAR, 0))
    end = file.read(_FAR)
    last = end.rfind(b"\n")
    first = end.rfind(b"\n", 0, max(last, 0)) + 1
    if last > 0 and (first > 0 or size <= _FAR):
        found[max(size - _FAR, 0) + first] = end[first:last]
    for i in range(1, count):
        if time.monotonic() > until:
            break
        at, line = _line_after(file, int(size * _scattered(i)))
        if line:
            found[at] = line
    return sorted(found.items())


def _line_after(file: IO[bytes], place: int) -> tuple[int, bytes]:
    """The first whole line that begins after a place; nothing where none ends nearby."""
    file.seek(place)
    text = b""
    while len(text) < _FAR and (piece := file.read(_LOOK)):
        text += piece
        start = text.find(b"\n") + 1
        end = text.find(b"\n", start) if start else -1
        if end >= 0:
            return place + start, text[start:end]
    return place, b""


def _scattered(i: int) -> float:
    """Between 0 and 1: a half, a quarter, three quarters, an eighth and so on."""
    share, part = 0.0, 0.5
    while i:
        share += part * (i & 1)
        i, part = i >> 1, part / 2
    return share
