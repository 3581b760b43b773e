"""Ring: a file that two processes have mapped, of which one writes records and the other reads them.

One writer, one reader, and no lock: each moves its own end. What does not fit, because the reader is behind or is not
there at all, is left out.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path

import numpy as np

SIZE = 1 << 25  # bytes; the file is sparse, and takes what was written
_HEAD = 64
_LENGTH = 4  # bytes before a record that say how long it is


class Ring:
    def __init__(self, file: Path, *, make: bool = False, size: int = SIZE) -> None:
        with file.open("w+b" if make else "r+b") as opened:
            if make:
                opened.truncate(_HEAD + size)
            self._map = mmap.mmap(opened.fileno(), 0)
        self._size = len(self._map) - _HEAD
        self._ends = np.frombuffer(self._map, dtype=np.uint64, count=2)  # bytes written, and bytes read, in all

    def write(self, record: bytes) -> bool:
        written, read = self._ends.tolist()
        need = _LENGTH + len(record)
        if written + need - read > self._size:
            return False
        self._put(written, len(record).to_bytes(_LENGTH, "little") + record)
        self._ends[0] = written + need  # after what it counts
        return True

    def read(self) -> Iterator[bytes]:
        """What was written since."""
        written, at = self._ends.tolist()
        while at < written:
            length = int.from_bytes(self._get(at, _LENGTH), "little")
            record = self._get(at + _LENGTH, length)
            at += _LENGTH + length
            self._ends[1] = at
            yield record

    def _put(self, at: int, data: bytes) -> None:
        start = _HEAD + at % self._size
        fits = _HEAD + self._size - start
        self._map[start : start + min(len(data), fits)] = data[:fits]
        if len(data) > fits:
            self._map[_HEAD : _HEAD + len(data) - fits] = data[fits:]

    def _get(self, at: int, length: int) -> bytes:
        start = _HEAD + at % self._size
        fits = _HEAD + self._size - start
        return self._map[start : start + min(length, fits)] + self._map[_HEAD : _HEAD + max(length - fits, 0)]
