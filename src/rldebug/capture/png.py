"""Pictures as PNG files, still and animated, written with zlib alone."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_GREY, _COLOUR = 0, 2
_UP = 2  # each row as its difference from the one above
_LEVEL = 4  # a fifth larger than at 9, and five times as quick
_LONGEST = 65535  # milliseconds: what a frame's delay can hold

Pixels = NDArray[np.uint8]
"""(height, width) in grey, or (height, width, 3)."""


def encode(pixels: Pixels) -> bytes:
    """One picture."""
    pixels = checked(pixels)
    return b"".join((_SIGNATURE, _header(pixels), _chunk(b"IDAT", _data(pixels)), _chunk(b"IEND")))


def checked(pixels: Any) -> Pixels:
    if not isinstance(pixels, np.ndarray) or pixels.dtype != np.uint8:
        raise TypeError(f"a picture is an array of uint8, not {getattr(pixels, 'dtype', type(pixels).__name__)}")
    if pixels.ndim not in (2, 3) or (pixels.ndim == 3 and pixels.shape[2] != 3) or 0 in pixels.shape:
        raise ValueError(f"a picture is (height, width) or (height, width, 3), not {pixels.shape}")
    return pixels


class Animation:
    """Frame by frame into a file: nothing is kept but the last one. Of each, only the part that has changed is written.

    How many frames there are stands at the beginning of the file: it is put there by `close`.
    """

    def __init__(self, path: Path) -> None:
        self.frames = self.bytes = 0
        self._path = path
        self._file: IO[bytes] | None = None
        self._sequence = 0
        self._last: tuple[Pixels, float] | None = None  # not yet written: how long it stays is told by the next
        self._shown: Pixels | None = None

    def add(self, pixels: Pixels, at: float) -> bool:
        """A frame, at a second of the animation; whether it fits: all have the shape of the first."""
        pixels = checked(pixels)
        if self._last is not None and self._last[0].shape != pixels.shape:
            return False
        if self._last is not None:
            self._write(at - self._last[1])
        self._last = (pixels, at)
        return True

    def close(self, stays: float = 0.5) -> None:
        """The last frame stays this long."""
        if self._last is not None:
            self._write(stays)
        file, self._file = self._file, None
        if file is None:
            return
        with file:
            file.write(_chunk(b"IEND"))
            file.seek(self._counted_at)
            file.write(_control(self.frames))

    def _write(self, seconds: float) -> None:
        assert self._last is not None
        pixels = self._last[0]
        if self._file is None:
            self._file = self._path.open("wb")
            head = _SIGNATURE + _header(pixels)
            self._counted_at = len(head)
            self._file.write(head + _control(0))
        delay = min(max(round(seconds * 1000), 1), _LONGEST)
        top, left, part = (0, 0, pixels) if self._shown is None else _changed(self._shown, pixels)
        frame = struct.pack(
            ">IIIIIHHBB", self._next(), part.shape[1], part.shape[0], left, top, delay, 1000, 0, 0
        )  # nothing is cleared, nothing is blended
        data = _data(part)
        if self._shown is None:
            written = _chunk(b"fcTL", frame) + _chunk(b"IDAT", data)
        else:
            written = _chunk(b"fcTL", frame) + _chunk(b"fdAT", struct.pack(">I", self._next()) + data)
        self._file.write(written)
        self._shown = pixels
        self.frames += 1
        self.bytes += len(written)

    def _next(self) -> int:
        self._sequence += 1
        return self._sequence - 1


def _changed(before: Pixels, after: Pixels) -> tuple[int, int, Pixels]:
    """The smallest part outside of which nothing has changed: its top, its left, and itself."""
    differs = before != after
    if differs.ndim == 3:
        differs = differs.any(axis=2)
    rows, columns = np.flatnonzero(differs.any(axis=1)), np.flatnonzero(differs.any(axis=0))
    if not len(rows):
        return 0, 0, after[:1, :1]
    top, left = int(rows[0]), int(columns[0])
    return top, left, after[top : rows[-1] + 1, left : columns[-1] + 1]


def _header(pixels: Pixels) -> bytes:
    kind = _GREY if pixels.ndim == 2 else _COLOUR
    return _chunk(b"IHDR", struct.pack(">IIBBBBB", pixels.shape[1], pixels.shape[0], 8, kind, 0, 0, 0))


def _control(frames: int) -> bytes:
    return _chunk(b"acTL", struct.pack(">II", frames, 0))  # 0: plays on and on


def _data(pixels: Pixels) -> bytes:
    rows = np.ascontiguousarray(pixels).reshape(len(pixels), -1)
    filtered = np.empty((len(rows), rows.shape[1] + 1), dtype=np.uint8)
    filtered[:, 0] = _UP
    filtered[0, 1:] = rows[0]
    np.subtract(rows[1:], rows[:-1], out=filtered[1:, 1:])  # modulo 256, as it is to be
    return zlib.compress(filtered.tobytes(), _LEVEL)


def _chunk(kind: bytes, data: bytes = b"") -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
