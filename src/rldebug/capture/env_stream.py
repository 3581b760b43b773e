"""Stream: one environment, and what was seen of it in all. Node: one observation, and the step taken from it."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldebug.capture.env_values import one, parts_of
from rldebug.capture.fingerprints import flat
from rldebug.capture.frames import Frames

REWARDS = 2048  # the newest, that are kept of a stream
EPISODES = 2048  # that are kept of a stream, evenly spread
_DISTINCT = 64
_ALL = 256  # calls of which everything is looked at; then of every eighth, or fewer where observations are wide
_OFTEN, _SELDOM = 8, 32
_WIDE = 1024


When = tuple[int, int, int]  # phase, optimizer steps so far, and the number of the call


class Node:
    __slots__ = (
        "acted",
        "action",
        "alike",
        "call",
        "first",
        "fp",
        "id",
        "lane",
        "nxt",
        "obs",
        "phantom",
        "phase",
        "reward",
        "stream",
        "succ",
        "terminated",
        "truncated",
        "update",
    )

    def __init__(self, id: int, fp: int, stream: int, lane: int, call: int, phase: int, update: int) -> None:
        self.id, self.fp, self.stream, self.lane = id, fp, stream, lane
        self.call, self.phase, self.update = call, phase, update
        self.action: Any = None
        self.reward = math.nan
        self.terminated = self.truncated = self.phantom = self.first = self.acted = False
        self.nxt = self.succ = self.alike = -1
        self.obs: NDArray[Any] | None = None


class Stream:
    """One environment, and what was seen of it in all."""

    def __init__(self, index: int, env: Any, kind: str, lanes: int, autoreset: str, facts: dict[str, Any]) -> None:
        self.index, self.kind, self.lanes, self.autoreset, self.facts = index, kind, lanes, autoreset, facts
        self.vector = lanes > 1  # a batch of one comes without its axis
        self.name = str(facts.get("id") or type(env).__name__)
        self.current: list[Node | None] = [None] * lanes
        self.over = [False] * lanes  # the episode has ended, and nobody has called reset
        self.running = [(0.0, 0)] * lanes
        self.steps = self.resets = self.calls = 0
        self.phases, self.phase = 0, -1  # how many it was called in, and the last of them
        self.learned = 0
        self.seeds: list[Any] = []
        self.shape: tuple[int, ...] | None = None
        self.dtype = ""
        self.layout: tuple[Any, ...] = ()  # of an observation that is several things, what they are (parts.py)
        self._keys: tuple[Any, ...] | None = None  # of an observation that is a dictionary, in their order
        self.episodes: list[tuple[float, int, bool, int]] = []  # return, length, terminated, at update
        self.finished = self.terminations = self.truncations = self.stepped_after_end = 0
        self.every = 1
        self.reward = _Numbers()
        self.newest: deque[float] = deque(maxlen=REWARDS)
        self.distinct: set[float] = set()
        self.zeros = 0
        self.counts: dict[int, int] = {}
        self.action = _Elements()
        self.outside = 0
        self.obs = _Elements()
        self.looked = self.blank = self.repeated = self.aliased = self.changed = self.nonfinite = 0
        self.frames = Frames()
        self.last: Any = None  # the observation object handed over last, to notice when it is reused

    @property
    def wide(self) -> bool:
        return self.shape is not None and math.prod(self.shape) > _WIDE

    def parts(self, value: Any) -> Sequence[Any]:
        """One for each lane."""
        return parts_of(value, self.lanes) if self.vector else [one(value)]

    def in_order(self, obs: dict[Any, Any]) -> dict[Any, Any]:
        """A last observation comes as the environment wrote it, all others as a vector of environments sorted them."""
        if self._keys is None:
            self._keys = tuple(obs)
        if tuple(obs) == self._keys or obs.keys() != set(self._keys):
            return obs
        return {key: obs[key] for key in self._keys}

    def describe(self) -> dict[str, Any]:
        """For script.jsonl: THINGS["stream"]."""
        kept = self.episodes
        looked = max(self.looked, 1)
        action: dict[str, Any] = {"counts": {str(key): count for key, count in sorted(self.counts.items())[:64]}}
        if self.action.count:
            action = {**self.action.describe(), "outside": self.outside / self.action.count}
        return {
            "index": self.index,
            "name": self.name,
            "kind": self.kind,
            "lanes": self.lanes,
            "autoreset": self.autoreset,
            "facts": self.facts,
            "steps": self.steps,
            "resets": self.resets,
            "phases": self.phases,
            "learned": self.learned,
            "seeds": self.seeds,
            "shape": self.shape,
            "dtype": self.dtype,
            "returns": [each[0] for each in kept],
            "lengths": [each[1] for each in kept],
            "terminated": [each[2] for each in kept],
            "at": [each[3] for each in kept],
            "episodes": self.finished,
            "terminations": self.terminations,
            "truncations": self.truncations,
            "stepped_after_end": self.stepped_after_end,
            "reward": {
                **self.reward.describe(),
                "zero": self.zeros / max(self.reward.count, 1),
                "distinct": min(len(self.distinct), _DISTINCT),
            },
            "action": action,
            "frames": self.frames.describe(),
            "obs": {
                **self.obs.describe(),
                "looked": self.looked,
                "nonfinite": self.nonfinite / looked,
                "blank": self.blank / looked,
                "repeated": self.repeated / looked,
                "aliased": self.aliased / looked,
                "changed": self.changed / looked,
            },
        }

    def rewarded(self, rewards: list[float]) -> None:
        self.reward.add(rewards)
        self.newest.extend(rewards)
        self.zeros += rewards.count(0.0)
        if len(self.distinct) < _DISTINCT:
            self.distinct.update(rewards)

    def rewarded_block(self, rewards: NDArray[np.float64]) -> None:
        """As rewarded, with many."""
        self.reward.add_block(rewards)
        self.newest.extend(rewards[-REWARDS:].tolist())
        self.zeros += len(rewards) - int(np.count_nonzero(rewards))
        if len(self.distinct) < _DISTINCT:
            self.distinct.update(np.unique(rewards)[:_DISTINCT].tolist())

    def chosen(self, actions: NDArray[Any]) -> None:
        """Actions that are whole numbers."""
        for action, count in zip(*(each.tolist() for each in np.unique(actions, return_counts=True)), strict=True):
            self.counts[action] = self.counts.get(action, 0) + count

    def ended(self, lane: int, terminated: bool, update: int) -> None:
        total, length = self.running[lane]
        self.running[lane] = (0.0, 0)
        self.finished += 1
        self.terminations += terminated
        self.truncations += not terminated
        if self.finished % self.every == 0:
            self.episodes.append((total, length, terminated, update))
            if len(self.episodes) >= EPISODES:
                self.episodes = self.episodes[1::2]
                self.every *= 2

    def due(self, calls: Any) -> Any:
        """Whether the observations of a call, or of each of several, are looked at: all at first, then some."""
        return (calls < _ALL) | (calls % (_SELDOM if self.wide else _OFTEN) == 0)

    def look_at_obs(self, array: NDArray[Any], repeated: bool) -> None:
        self.looked += 1
        self.repeated += repeated
        if array.dtype.kind == "f" and not math.isfinite(float(array.sum())):
            self.nonfinite += 1
            return
        self.obs.add(array)
        if array.size >= 16:
            self.blank += bool(array.min() == array.max())

    def look_at_block(self, rows: NDArray[Any], repeated: int) -> None:
        """As look_at_obs, at many."""
        if rows[0].size > 64 or len(rows) < 4:
            for place, each in enumerate(rows):
                self.look_at_obs(each, place < repeated)
            return
        matrix = rows.reshape(len(rows), -1).astype(np.float64)
        self.looked += len(matrix)
        self.repeated += repeated
        finite = np.isfinite(matrix).all(axis=1)
        if not finite.all():
            self.nonfinite += int((~finite).sum())
            matrix = matrix[finite]
        if len(matrix):
            self.obs.add_rows(matrix)
            if matrix.shape[1] >= 16:
                self.blank += int((matrix.min(axis=1) == matrix.max(axis=1)).sum())

    def look_at_action(self, action: Any) -> None:
        array = flat(action)
        if array is None or array.size > 64 or not np.isfinite(array).all():
            return
        self.action.add(array)
        low, high = self.facts.get("action_low"), self.facts.get("action_high")
        if isinstance(low, list) and isinstance(high, list) and len(low) == array.size:
            row = array.reshape(-1)
            self.outside += bool((row < np.array(low) - 1e-5).any() or (row > np.array(high) + 1e-5).any())


class _Numbers:
    def __init__(self) -> None:
        self.count, self.total, self.squares = 0, 0.0, 0.0
        self.low, self.high = math.inf, -math.inf

    def add(self, values: list[float]) -> None:
        self.count += len(values)
        self.total += sum(values)
        self.squares += sum(each * each for each in values)
        known = [each for each in values if each == each]
        low, high = min(known, default=self.low), max(known, default=self.high)
        if low < self.low:
            self.low = low
        if high > self.high:
            self.high = high

    def add_block(self, values: NDArray[np.float64]) -> None:
        self.count += len(values)
        self.total += float(values.sum())
        self.squares += float((values * values).sum())
        known = values[~np.isnan(values)]
        if len(known):
            self.low, self.high = min(self.low, float(known.min())), max(self.high, float(known.max()))

    def describe(self) -> dict[str, Any]:
        if not self.count:
            return {"count": 0}
        mean = self.total / self.count
        spread = math.sqrt(max(self.squares / self.count - mean * mean, 0.0))
        return {"count": self.count, "min": self.low, "max": self.high, "mean": mean, "std": spread}


class _Elements:
    """Running numbers of each element of a vector; of all together where it is wide."""

    def __init__(self) -> None:
        self.count = 0
        self.low: Any = None

    def add(self, value: NDArray[Any]) -> None:
        row = value.reshape(-1).astype(np.float64)
        if row.size > 64:
            row = np.array([row.min(), row.max(), row.mean()])
        self.add_rows(row[None], wide=value.size > 64)

    def add_rows(self, rows: NDArray[np.float64], wide: bool = False) -> None:
        if self.low is None or len(self.low) != rows.shape[1]:
            self.count, self.wide = 0, wide
            self.low, self.high = rows[0].copy(), rows[0].copy()
            self.total, self.squares = np.zeros_like(rows[0]), np.zeros_like(rows[0])
        self.count += len(rows)
        np.minimum(self.low, rows.min(axis=0), out=self.low)
        np.maximum(self.high, rows.max(axis=0), out=self.high)
        self.total += rows.sum(axis=0)
        self.squares += (rows * rows).sum(axis=0)

    def describe(self) -> dict[str, Any]:
        if not self.count:
            return {"count": 0}
        mean = self.total / self.count
        spread = np.sqrt(np.maximum(self.squares / self.count - mean * mean, 0.0))
        columns = {"low": self.low, "high": self.high, "mean": mean, "std": spread}
        told = {name: [float(f"{each:.6g}") for each in column] for name, column in columns.items()}
        return {"count": self.count, "wide": self.wide, **told}  # wide: the elements are min, max and mean of each
