"""Pooling two frames and shrinking the result by area averaging, in one pass; and grey, from colour or a palette."""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

Frame = npt.NDArray[np.uint8]
Places = npt.NDArray[np.int64]
Weights = npt.NDArray[np.float64]


def overlaps(before: int, after: int) -> tuple[Places, Weights]:
    """How `before` pixels share out over `after` cells of the same total length: the first pixel of each cell,
    `(after,)`, and the weights of the pixels from there on, `(n, after)`. Counted in 1/after of a pixel all weights are
    whole numbers, and those of a cell add up to `before`."""
    width = min(before, -(-before // after) + 1)
    cells = np.arange(after)
    first = np.minimum(cells * before // after, before - width)
    pixels = first + np.arange(width)[:, None]
    start = np.maximum(pixels * after, cells * before)
    end = np.minimum((pixels + 1) * after, (cells + 1) * before)
    return first, np.maximum(end - start, 0).astype(np.float64)


@numba.njit(cache=True, nogil=True)
def shrink(
    newer: Frame,
    older: Frame,
    top: Places,
    row_weights: Weights,
    left: Places,
    column_weights: Weights,
    channels: int,
    out: Frame,
) -> None:
    """The larger of two frames, pixel by pixel, area-averaged into `out`; halves are rounded up.

    Frames are `(H, W · channels)`, `out` is `(h, w · channels)`. `top` and `row_weights` are `overlaps(H, h)`, `left`
    and `column_weights` those of `(W, w)`, repeated for each channel. All sums are of whole numbers that a float holds
    exactly, so the result is the same on every machine.
    """
    width, cells = newer.shape[1], out.shape[1]
    share = channels / (newer.shape[0] * width)
    row, sums = np.empty(width, np.float32), np.empty(cells, np.float64)
    for i in range(out.shape[0]):
        row[:] = 0.0
        for k in range(row_weights.shape[0]):
            weight = np.float32(row_weights[k, i])
            a, b = newer[top[i] + k], older[top[i] + k]
            for x in range(width):
                row[x] += weight * np.float32(max(a[x], b[x]))
        sums[:] = 0.0
        for k in range(column_weights.shape[0]):
            weights = column_weights[k]
            for j in range(cells):
                sums[j] += weights[j] * np.float64(row[left[j] + k * channels])
        for j in range(cells):
            # 1e-9: a half stays a half, whatever the product rounds to; the next possible value is 1 / (H · W) away.
            out[i, j] = np.uint8(np.int32(sums[j] * share + (0.5 + 1e-9)))


@numba.njit(cache=True, nogil=True)
def to_grey(colour: Frame, out: Frame) -> None:
    """The luma of `(H, 3 · W)` into `(H, W)`: 0.299 red + 0.587 green + 0.114 blue, rounded."""
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            red, green, blue = colour[y, 3 * x], colour[y, 3 * x + 1], colour[y, 3 * x + 2]
            luma = np.uint32(299) * red + np.uint32(587) * green + np.uint32(114) * blue
            out[y, x] = np.uint8((luma + np.uint32(500)) // np.uint32(1000))


@numba.njit(cache=True, nogil=True)
def from_palette(
    screen: Frame,
    words: npt.NDArray[np.uint64],
    seen: npt.NDArray[np.uint64],
    palette: npt.NDArray[np.int16],
    out: Frame,
) -> bool:
    """Bring `out` `(H, W)` up to date with a screen of palette numbers, in the lines that changed.

    `words` is the screen in 64-bit words, `seen` the one that `out` shows. False at a number whose grey is not known
    yet, −1 in `palette`.
    """
    for y in range(words.shape[0]):
        change = np.uint64(0)
        for x in range(words.shape[1]):
            change |= words[y, x] ^ seen[y, x]
        if change != 0:
            for x in range(screen.shape[1]):
                grey = palette[screen[y, x]]
                if grey < 0:
                    return False
                out[y, x] = grey
            seen[y] = words[y]
    return True
