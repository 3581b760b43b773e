"""Reads PNG files back, still and animated, by the specification and not by what wrote them."""

from __future__ import annotations

import struct
import zlib

import numpy as np


def chunks(data):
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    place, found = 8, []
    while place < len(data):
        length, kind = struct.unpack(">I4s", data[place : place + 8])
        body = data[place + 8 : place + 8 + length]
        (crc,) = struct.unpack(">I", data[place + 8 + length : place + 12 + length])
        assert crc == zlib.crc32(kind + body), f"the checksum of {kind} is wrong"
        found.append((kind, body))
        place += 12 + length
    assert place == len(data)
    assert found[0][0] == b"IHDR"
    assert found[-1] == (b"IEND", b"")
    return found


def pixels(data, width, height, channels):
    """Of the filters that there are, none and up are understood."""
    raw = zlib.decompress(data)
    assert len(raw) == height * (width * channels + 1)
    rows, above = [], np.zeros(width * channels, dtype=np.uint8)
    for start in range(0, len(raw), width * channels + 1):
        row = np.frombuffer(raw[start + 1 : start + 1 + width * channels], dtype=np.uint8)
        assert raw[start] in (0, 2)
        above = row + above if raw[start] == 2 else row
        rows.append(above)
    picture = np.stack(rows).reshape(height, width, channels)
    return picture[:, :, 0] if channels == 1 else picture


def _header(found):
    width, height, depth, kind, packed, filtered, woven = struct.unpack(">IIBBBBB", found[0][1])
    assert (depth, packed, filtered, woven) == (8, 0, 0, 0)
    return width, height, {0: 1, 2: 3}[kind]


def decode(data):
    found = chunks(data)
    width, height, channels = _header(found)
    return pixels(b"".join(body for kind, body in found if kind == b"IDAT"), width, height, channels)


def decode_animation(data):
    """Frames as they are seen, and how many milliseconds each stays."""
    found = chunks(data)
    width, height, channels = _header(found)
    canvas = np.zeros((height, width) if channels == 1 else (height, width, channels), dtype=np.uint8)
    frames, delays, sequence, part = [], [], [], None
    for kind, body in found:
        if kind == b"acTL":
            count, plays = struct.unpack(">II", body)
            assert plays == 0
        elif kind == b"fcTL":
            number, wide, high, left, top, delay, per, dispose, blend = struct.unpack(">IIIIIHHBB", body)
            assert (per, dispose, blend) == (1000, 0, 0)
            sequence.append(number)
            delays.append(delay)
            part = (wide, high, left, top)
        elif kind in (b"IDAT", b"fdAT"):
            if kind == b"fdAT":
                sequence.append(struct.unpack(">I", body[:4])[0])
                body = body[4:]
            wide, high, left, top = part
            canvas[top : top + high, left : left + wide] = pixels(body, wide, high, channels)
            frames.append(canvas.copy())
    assert count == len(frames)
    assert sequence == list(range(len(sequence)))
    return frames, delays
