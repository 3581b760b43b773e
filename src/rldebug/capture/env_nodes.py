"""Memory: the nodes of an EnvLog. Bounded; found by id and by fingerprint, and made of blocks when somebody asks."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldebug.capture.env_block import Block, start_of
from rldebug.capture.env_stream import Node, Stream, When

CAPACITY = 1 << 17  # nodes
RECENT = 4096  # nodes whose observation itself is kept, where it is narrow
RECENT_BYTES = 4 << 20


class Memory:
    def __init__(self) -> None:
        self.next_id = 0
        self.recent = 0  # nodes whose observation is kept
        self._nodes: list[Node | None] = []  # None: in a block, and not asked for yet
        self._blocks: list[Block] = []
        self._unindexed: list[Block] = []
        self._index: dict[int, int] = {}
        self._recent: deque[list[Any]] = deque()  # node or block, how many observations, their bytes
        self._bytes = 0
        self._when: When = (0, 0, 0)
        self._lock = threading.RLock()  # actors may run in threads of their own

    def flush(self) -> None:
        """Log what was put aside. Called before anything is read."""
        raise NotImplementedError

    @property
    def nodes(self) -> list[Node]:
        """All that are remembered."""
        self.flush()
        return [
            node for id in range(self.next_id - len(self._nodes), self.next_id) if (node := self.get(id)) is not None
        ]

    @property
    def index(self) -> dict[int, int]:
        """Fingerprint -> id of the newest node with it."""
        self.flush()
        if self._unindexed:
            self._index_blocks()
        return self._index

    def _index_blocks(self) -> None:
        index = self._index
        for block in self._unindexed:
            prints = block.fingerprints()
            ids = range(block.start, block.start + block.count)
            block.alike = np.fromiter(map(index.get, prints, repeat(-1)), dtype=np.int64, count=block.count)
            if len(set(prints)) < len(prints):  # some are equal to others of the same block
                for place, fp in enumerate(prints):
                    block.alike[place] = index.get(fp, -1)
                    index[fp] = block.start + place
            else:
                index.update(zip(prints, ids, strict=True))
            first = self.next_id - len(self._nodes)
            for place in range(max(block.start, first) - first, max(block.start + block.count, first) - first):
                node = self._nodes[place]
                if node is not None:
                    node.alike = max(node.alike, int(block.alike[node.id - block.start]))
        self._unindexed.clear()

    def _remember(self, block: Block) -> None:
        """Its nodes are made when they are asked for, but for those that the program acts on now."""
        if len(self._nodes) >= 2 * CAPACITY:
            self._forget()
        stream = block.stream
        self._nodes += [None] * block.count
        self.next_id += block.count
        self._blocks.append(block)
        self._unindexed.append(block)
        last = (block.calls - 1) * stream.lanes
        for lane, before in enumerate(stream.current):
            if before is not None:
                block.continue_from(before, 0, lane)
            node = block.node(block.id_of(last + lane))
            self._nodes[node.id - self.next_id] = stream.current[lane] = node
            stream.over[lane] = bool(block.over[-1, lane])
        self._keep(block, block.count, block.count * block.row_bytes)

    def _made(self, stream: Stream, lane: int, fp: int, array: NDArray[Any] | None) -> Node:
        if len(self._nodes) >= 2 * CAPACITY:
            self._forget()
        phase, update, call = self._when
        node = Node(self.next_id, fp, stream.index, lane, call, phase, update)
        self.next_id += 1
        self._nodes.append(node)
        if array is None:
            return node
        if stream.shape is None:
            stream.shape, stream.dtype = array.shape, str(array.dtype)
        if self._unindexed:
            self._index_blocks()
        node.alike = self._index.get(fp, -1)
        self._index[fp] = node.id
        node.obs = array
        self._keep(node, 1, array.nbytes)
        return node

    def _forget(self) -> None:
        """The older half. Seldom, and all at once: a list is quick to look things up in by number."""
        self._nodes = self._nodes[len(self._nodes) - CAPACITY :]
        first = self.next_id - len(self._nodes)
        self._index = {fp: id for fp, id in self._index.items() if id >= first}
        self._blocks = [each for each in self._blocks if each.start + each.count > first]
        self._unindexed = [each for each in self._unindexed if each.start + each.count > first]

    def _keep(self, owner: Node | Block, count: int, size: int) -> None:
        """Remember the newest observations themselves."""
        self._recent.append([owner, count, size])
        self.recent += count
        self._bytes += size
        while self.recent > RECENT or (self._bytes > RECENT_BYTES and self.recent > 8):
            oldest = self._recent[0]
            owner, count, size = oldest
            if isinstance(owner, Node):
                owner.obs = None
                gone, freed = 1, size
            else:
                each = size // count
                excess = max(self.recent - RECENT, -(-(self._bytes - RECENT_BYTES) // max(each, 1)))
                gone = max(1, min(count, excess, max(self.recent - 8, 1)))
                freed = each * gone if gone < count else size
                self._drop(owner, gone)
            self.recent -= gone
            self._bytes -= freed
            if gone == count:
                self._recent.popleft()
            else:
                oldest[1:] = [count - gone, size - freed]

    def _drop(self, block: Block, count: int) -> None:
        first = self.next_id - len(self._nodes)
        start = block.start + block.dropped
        for node in self._nodes[max(start - first, 0) : max(start + count - first, 0)]:
            if node is not None:
                node.obs = None
        block.drop(count)

    def find(self, fp: int) -> Node | None:
        """The newest that looks so."""
        return self.get(self.index.get(fp, -1))

    def ids_of(self, prints: Iterable[int]) -> NDArray[np.int64]:
        """Of the newest that look so; -1 where there is none."""
        return np.fromiter(map(self.index.get, prints, repeat(-1)), dtype=np.int64)

    def get(self, id: int) -> Node | None:
        """By id; None where it is forgotten."""
        self.flush()
        place = id - self.next_id + len(self._nodes)
        if not 0 <= place < len(self._nodes):
            return None
        node = self._nodes[place]
        if node is None:
            with self._lock:
                if self._unindexed:
                    self._index_blocks()
                block = self._blocks[bisect_right(self._blocks, id, key=start_of) - 1]
                node = self._nodes[place] = block.node(id)
        return node
