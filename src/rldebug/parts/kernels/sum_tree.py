"""A 16-ary tree of sums: draw a row in proportion to its priority, in a time that grows with the logarithm of the rows.

One flat float64 array. The root is at 15, its children at 16…31, and the children of node `p` at `16 (p − 14)` and the
fifteen after it, so that sixteen siblings lie in two cache lines. A sum is always computed anew from its sixteen
children and never changed by a difference: rounding errors do not pile up, and the tree is a function of its leaves.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

ROOT = 15
_LINE = 64  # bytes of a cache line


class SumTree:
    """`size` rows, all of priority 0 at first."""

    def __init__(self, size: int) -> None:
        self.size, self.depth, self.leaf = size, 0, ROOT
        while 16**self.depth < size:
            self.depth += 1
            self.leaf = 16 * (self.leaf - 14)
        length = self.leaf + -(-size // 16) * 16
        block = np.zeros(length + _LINE // 8)
        start = -block.ctypes.data % _LINE // 8  # numpy aligns to 16 bytes: siblings would lie across one line more
        self.nodes = block[start : start + length]

    @property
    def total(self) -> float:
        return float(self.nodes[ROOT])

    @property
    def priority(self) -> NDArray[np.float64]:
        """Of every row, `(size,)`: a view. Call `rebuild` after writing to it."""
        return self.nodes[self.leaf : self.leaf + self.size]

    def fill(self, first: int, rows: int, priority: float) -> None:
        """Give `rows` rows from `first` on the same priority."""
        _fill(self.nodes, self.depth, self.leaf + first, rows, priority)

    def renew(
        self, index: NDArray[np.int64], error: NDArray[np.float64], first: int, end: int, alpha: float, eps: float
    ) -> tuple[float, int]:
        """Give transition `index`, which lies in row `index % size`, the priority `(error + eps)^alpha`.

        Those before `first` are gone, and passed over. Returns the highest priority given, and −1; where an index is
        not in `[0, end)`, or an error negative or not finite, nothing is changed, and its place is returned.
        """
        highest, wrong = _renew(self.nodes, self.depth, self.leaf, self.size, index, error, first, end, alpha, eps)
        return highest, wrong

    def find(self, at: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The rows in which the running sum of priorities passes each of `at`, in `[0, total)`, and their priorities.

        Never a row of priority 0, whatever the rounding; `total` must not be 0.
        """
        row, priority = np.empty(len(at), np.int64), np.empty(len(at))
        _find(self.nodes, self.depth, self.leaf, at, row, priority)
        return row, priority

    def rebuild(self) -> None:
        _sums(self.nodes, self.depth, self.leaf, self.leaf + self.size - 1)


@numba.njit(cache=True, nogil=True, inline="always")
def _sum(nodes: NDArray[np.float64], node: int) -> Any:
    a = 16 * (node - 14)
    one = (nodes[a] + nodes[a + 1]) + (nodes[a + 2] + nodes[a + 3])
    two = (nodes[a + 4] + nodes[a + 5]) + (nodes[a + 6] + nodes[a + 7])
    three = (nodes[a + 8] + nodes[a + 9]) + (nodes[a + 10] + nodes[a + 11])
    four = (nodes[a + 12] + nodes[a + 13]) + (nodes[a + 14] + nodes[a + 15])
    return (one + two) + (three + four)


@numba.njit(cache=True, nogil=True)
def _sums(nodes: NDArray[np.float64], depth: int, first: int, last: int) -> None:
    """Compute everything above the leaves from `first` to `last` anew."""
    for _ in range(depth):
        first, last = first // 16 + 14, last // 16 + 14
        for node in range(first, last + 1):
            nodes[node] = _sum(nodes, node)


@numba.njit(cache=True, nogil=True)
def _fill(nodes: NDArray[np.float64], depth: int, first: int, rows: int, priority: float) -> None:
    for node in range(first, first + rows):
        nodes[node] = priority
    _sums(nodes, depth, first, first + rows - 1)


@numba.njit(cache=True, nogil=True)
def _renew(
    nodes: NDArray[np.float64],
    depth: int,
    leaf: int,
    size: int,
    index: NDArray[np.int64],
    error: NDArray[np.float64],
    first: int,
    end: int,
    alpha: float,
    eps: float,
) -> tuple[float, int]:
    for i in range(len(index)):
        # The bound of float32, so that no sum overflows; `not`, so that NaN is caught.
        if not (0 <= index[i] < end and 0.0 <= error[i] <= 3.4028235e38):
            return 0.0, i
    node = np.empty(len(index), np.int64)
    count, highest = 0, 0.0
    for i in range(len(index)):
        if index[i] >= first:
            node[count] = leaf + index[i] % size
            priority = (error[i] + eps) ** alpha
            highest = max(highest, priority)
            nodes[node[count]] = priority
            count += 1
    # Level by level: the loads of one level do not wait for one another. Neighbours that share a parent (what was drawn
    # comes in order) need it computed once.
    for _ in range(depth):
        previous, parents = -1, 0
        for i in range(count):
            parent = node[i] // 16 + 14
            if parent != previous:
                nodes[parent] = _sum(nodes, parent)
                node[parents] = parent
                parents += 1
                previous = parent
        count = parents
    return highest, -1


@numba.njit(cache=True, nogil=True)
def _find(
    nodes: NDArray[np.float64],
    depth: int,
    leaf: int,
    at: NDArray[np.float64],
    row: NDArray[np.int64],
    priority: NDArray[np.float64],
) -> None:
    rest = at.copy()
    row[:] = ROOT
    for _ in range(depth):  # all of a level before the next: their loads do not wait for one another
        for i in range(len(at)):
            node, x = np.uint64(16 * (row[i] - 14)), rest[i]  # unsigned: a signed index is looked at for being negative
            last = node + np.uint64(15)
            while node < last and x >= nodes[node]:
                x -= nodes[node]
                node += np.uint64(1)
            while nodes[node] == 0.0:  # a sum was rounded up to more than its parts have: back to the last that counts
                node -= np.uint64(1)
                x = nodes[node]
            row[i], rest[i] = node, x
    for i in range(len(at)):
        priority[i] = nodes[row[i]]
        row[i] -= leaf
