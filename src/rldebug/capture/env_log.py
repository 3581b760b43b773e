"""EnvLog: every observation handed to the program, and the step it took from each. Bounded, and always on.
 One node for each observation. A node remembers its fingerprint, the action and reward of the step from it, and where
it led: `nxt`, the true next state, and `succ`, what the program acts on next in that lane. They differ at the end of
an episode. Nodes older than CAPACITY are forgotten; a training row that is older is unknown, which says nothing
against it.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any
from weakref import ReferenceType, ref

import numpy as np
from numpy.typing import NDArray

from rldebug.capture.fingerprints import fingerprint, flat
from rldebug.capture.frames import Frames

CAPACITY = 1 << 17  # nodes
RECENT = 4096  # nodes whose observation itself is kept, where it is narrow
RECENT_BYTES = 4 << 20
EPISODES = 2048  # that are kept of a stream, evenly spread
_DISTINCT = 64
_ROUND = 256  # environments that are stepped in turn


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
        self.episodes: list[tuple[float, int, bool, int]] = []  # return, length, terminated, at update
        self.finished = self.terminations = self.truncations = self.stepped_after_end = 0
        self.every = 1
        self.reward = _Numbers()
        self.distinct: set[float] = set()
        self.zeros = 0
        self.counts: dict[int, int] = {}
        self.action = _Elements()
        self.outside = 0
        self.obs = _Elements()
        self.looked = self.blank = self.repeated = self.aliased = self.changed = self.nonfinite = 0
        self.frames = Frames()
        self.last: Any = None  # the observation object handed over last, to notice when it is reused

    def parts(self, value: Any) -> Sequence[Any]:
        """One for each lane."""
        return _parts(value, self.lanes) if self.vector else [_one(value)]

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
                "distinct": len(self.distinct),
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


class _Numbers:
    def __init__(self) -> None:
        self.count, self.total, self.squares = 0, 0.0, 0.0
        self.low, self.high = math.inf, -math.inf

    def add(self, value: float) -> None:
        self.count += 1
        self.total += value
        self.squares += value * value
        if value < self.low:
            self.low = value
        if value > self.high:
            self.high = value

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
        if self.low is None or len(self.low) != len(row):
            self.count = 0
            self.low, self.high = row.copy(), row.copy()
            self.total, self.squares = np.zeros_like(row), np.zeros_like(row)
            self.wide = value.size > 64
        self.count += 1
        np.minimum(self.low, row, out=self.low)
        np.maximum(self.high, row, out=self.high)
        self.total += row
        self.squares += row * row

    def describe(self) -> dict[str, Any]:
        if not self.count:
            return {"count": 0}
        mean = self.total / self.count
        spread = np.sqrt(np.maximum(self.squares / self.count - mean * mean, 0.0))
        columns = {"low": self.low, "high": self.high, "mean": mean, "std": spread}
        told = {name: [float(f"{each:.6g}") for each in column] for name, column in columns.items()}
        return {"count": self.count, "wide": self.wide, **told}  # wide: the elements are min, max and mean of each


class EnvLog:
    def __init__(self, clock: Callable[[], tuple[int, int]], on_call: Callable[[Any], None]) -> None:
        self.clock = clock  # the phase, and optimizer steps so far
        self.on_call = on_call  # with the environment, before a call is logged: a phase may end here
        self.nodes: list[Node] = []
        self.next_id = 0
        self.index: dict[int, Node] = {}  # fingerprint -> the newest node with it
        self.streams: list[Stream] = []
        self.recent: deque[Node] = deque()
        self.newest: Stream | None = None  # the one called last
        self.round: dict[int, Stream] = {}  # those called in turn, each once so far
        self.calls = 0
        self.steps = 0
        self._known: dict[int, tuple[ReferenceType[Any] | Any, Stream]] = {}
        self._bytes = 0
        self._lock = threading.RLock()  # actors may run in threads of their own

    # ── what the hooks tell ─────────────────────────────────────────────────────────────────────────────────────────

    def new(self, env: Any, kind: str, lanes: int, autoreset: str, facts: dict[str, Any]) -> Stream:
        stream = Stream(len(self.streams), env, kind, lanes, autoreset, facts)
        self.streams.append(stream)
        for each in {id(env): env, id(_inner(env)): _inner(env)}.values():
            self._known[id(each)] = (_weak(each), stream)
        return stream

    def stream_of(self, env: Any) -> Stream | None:
        found = self._known.get(id(env))
        if found is not None and _strong(found[0]) is env:
            return found[1]
        inner = _inner(env)
        found = self._known.get(id(inner))
        if found is not None and _strong(found[0]) is inner:
            self._known[id(env)] = (_weak(env), found[1])
            return found[1]
        return None

    def reset(self, env: Any, obs: Any, seed: Any, lanes: int, mask: Any = None) -> None:
        self.on_call(env)
        with self._lock:
            self._saw_reset(env, obs, seed, lanes, mask)

    def _saw_reset(self, env: Any, obs: Any, seed: Any, lanes: int, mask: Any) -> None:
        stream = self.stream_of(env) or self.new(env, "unknown", lanes, "disabled", {})
        self._called(stream)
        stream.resets += 1
        if len(stream.seeds) < 32:
            stream.seeds.append(seed if isinstance(seed, (int, type(None))) else str(seed))
        for lane, each in enumerate(stream.parts(obs)):
            if mask is not None and not mask[lane]:
                continue
            before = stream.current[lane]
            node = self._node(stream, lane, each)
            node.first = True
            stream.frames.look(before.obs if before is not None else None, node.obs, reset=True)
            if before is not None and before.acted:
                before.succ = node.id  # not reached: an end without a flag
            elif before is not None and stream.over[lane]:
                self._lead_on(before, node)
            stream.current[lane] = node
            stream.over[lane] = False
            stream.running[lane] = (0.0, 0)
        stream.last = obs

    def _lead_on(self, final: Node, node: Node) -> None:
        """After the end of an episode the program acts on the observation of the reset, not on the final one."""
        final.succ = node.id

    def step(
        self, env: Any, action: Any, obs: Any, reward: Any, terminated: Any, truncated: Any, final_obs: Any
    ) -> None:
        self.on_call(env)
        with self._lock:
            self._saw_step(env, action, obs, reward, terminated, truncated, final_obs)

    def _saw_step(
        self, env: Any, action: Any, obs: Any, reward: Any, terminated: Any, truncated: Any, final_obs: Any
    ) -> None:
        stream = self.stream_of(env)
        if stream is None:
            lanes = len(reward) if getattr(reward, "ndim", 0) else 1
            kind = "unknown-vector" if getattr(reward, "ndim", 0) else "unknown"
            stream = self.new(env, kind, lanes, "disabled", {})
        self._called(stream)
        update = self.clock()[1]
        if stream.last is not None and obs is stream.last and not isinstance(obs, (int, float)):
            stream.aliased += 1
        lanes = stream.lanes
        if not stream.vector:
            final = final_obs[0] if isinstance(final_obs, (list, tuple)) and final_obs else final_obs
            self._step(
                stream, 0, _one(action), _one(obs), _number(reward), _flag(terminated), _flag(truncated), final, update
            )
        else:
            actions, each_obs = stream.parts(action), stream.parts(obs)
            rewards, ends, cuts = np.ravel(reward).tolist(), np.ravel(terminated).tolist(), np.ravel(truncated).tolist()
            for lane in range(lanes):
                final = final_obs[lane] if final_obs is not None else None
                self._step(
                    stream, lane, actions[lane], each_obs[lane], float(rewards[lane]), bool(ends[lane]),
                    bool(cuts[lane]), final, update,
                )  # fmt: skip
        stream.last = obs

    def _step(
        self, stream: Stream, lane: int, action: Any, obs: Any, reward: float, terminated: bool, truncated: bool,
        final: Any, update: int,
    ) -> None:  # fmt: skip
        before = stream.current[lane]
        if obs is None and stream.over[lane]:
            return  # an agent that is out, while others play on
        done = terminated or truncated
        phantom = stream.over[lane] and stream.autoreset == "next-step"
        if stream.over[lane] and not phantom and stream.autoreset == "disabled":
            stream.stepped_after_end += 1
        node = self._node(stream, lane, obs)
        led_to: Node | None = node
        if done and final is not None and stream.autoreset != "next-step":
            led_to = self._node(stream, lane, final, indexed=True)
            led_to.succ = node.id
            node.first = True
        elif phantom:
            node.first = True
        elif done and stream.facts.get("resets_itself"):
            # What it returned is where the next episode starts; where this one ended nobody was told.
            node.first, led_to = True, None
        if before is not None:
            before.action, before.reward, before.acted = action, reward, True
            before.phase, before.update = self.clock()
            before.terminated, before.truncated, before.phantom = terminated, truncated, phantom
            before.nxt = led_to.id if led_to is not None else -1
            before.succ = node.id
        stream.current[lane] = node
        stream.over[lane] = done and not node.first
        if before is not None:
            stream.frames.look(before.obs, node.obs, reset=node.first)
        if phantom:
            return
        self.steps += 1
        stream.steps += 1
        total, length = stream.running[lane]
        stream.running[lane] = (total + reward, length + 1)
        if done:
            stream.ended(lane, terminated, update)
        stream.reward.add(reward)
        if reward == 0.0:
            stream.zeros += 1
        if len(stream.distinct) < _DISTINCT:
            stream.distinct.add(reward)
        if isinstance(action, int):
            stream.counts[action] = stream.counts.get(action, 0) + 1
        elif stream.steps < 256 or stream.steps % 8 == 0:
            self._look_at_action(stream, action)

    # ── inside ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def _called(self, stream: Stream) -> None:
        self.calls += 1
        stream.calls += 1
        if stream is not self.newest and (stream.index in self.round or len(self.round) >= _ROUND):
            self.round = {}  # its turn again: another round
        self.round[stream.index] = stream
        self.newest = stream
        phase = self.clock()[0]
        if phase != stream.phase:
            stream.phase = phase
            stream.phases += 1

    def _node(self, stream: Stream, lane: int, obs: Any, indexed: bool = True) -> Node:
        array = flat(obs)
        phase, update = self.clock()
        if len(self.nodes) >= 2 * CAPACITY:
            self._forget()
        fp = fingerprint(array) if array is not None else 0
        node = Node(self.next_id, fp, stream.index, lane, stream.calls, phase, update)
        self.next_id += 1
        self.nodes.append(node)
        before = stream.current[lane]
        if array is not None:
            if stream.shape is None:
                stream.shape, stream.dtype = array.shape, str(array.dtype)
            same = self.index.get(fp)
            if same is not None:
                node.alike = same.id
            self.index[fp] = node
            self._keep(node, array)
            if stream.calls < 256 or stream.calls % 8 == 0:
                self._look_at_obs(stream, array, before is not None and before.fp == fp)
        return node

    def _forget(self) -> None:
        """The older half. Seldom, and all at once: a list is quick to look things up in by number."""
        gone, self.nodes = self.nodes[:CAPACITY], self.nodes[CAPACITY:]
        for each in gone:
            if self.index.get(each.fp) is each:
                del self.index[each.fp]

    def _keep(self, node: Node, array: NDArray[Any]) -> None:
        node.obs = array.copy()  # the environment may reuse its array
        self.recent.append(node)
        self._bytes += array.nbytes
        while len(self.recent) > RECENT or (self._bytes > RECENT_BYTES and len(self.recent) > 8):
            old = self.recent.popleft()
            if old.obs is not None:
                self._bytes -= old.obs.nbytes
                old.obs = None

    def _look_at_obs(self, stream: Stream, array: NDArray[Any], repeated: bool) -> None:
        stream.looked += 1
        stream.repeated += repeated
        if array.dtype.kind == "f" and not math.isfinite(float(array.sum())):
            stream.nonfinite += 1
            return
        stream.obs.add(array)
        if array.size >= 16:
            stream.blank += bool(array.min() == array.max())

    def _look_at_action(self, stream: Stream, action: Any) -> None:
        array = flat(action)
        if array is None or array.size > 64 or not np.isfinite(array).all():
            return
        stream.action.add(array)
        low, high = stream.facts.get("action_low"), stream.facts.get("action_high")
        if isinstance(low, list) and isinstance(high, list) and len(low) == array.size:
            row = array.reshape(-1)
            stream.outside += bool((row < np.array(low) - 1e-5).any() or (row > np.array(high) + 1e-5).any())

    def find(self, fp: int) -> Node | None:
        return self.index.get(fp)

    def get(self, id: int) -> Node | None:
        """By id; None where it is forgotten."""
        place = id - self.next_id + len(self.nodes)
        return self.nodes[place] if 0 <= place < len(self.nodes) else None

    def current(self, count: int | None = None) -> list[Node]:
        """What the program acts on now: in the environment called last, or in all those it has called in turn, where
        that makes as many as it acts on."""
        if self.newest is None:
            return []
        last = [each for each in self.newest.current if each is not None]
        if count is None or count == len(last):
            return last
        together = [each for stream in self.round.values() for each in stream.current if each is not None]
        return together if len(together) == count else last


def _inner(env: Any) -> Any:
    try:
        return getattr(env, "unwrapped", env)
    except Exception:
        return env


def _weak(thing: Any) -> Any:
    try:
        return ref(thing)
    except TypeError:
        return lambda: thing  # a class with slots


def _strong(reference: Any) -> Any:
    return reference()


def _parts(value: Any, lanes: int) -> Sequence[Any]:
    if isinstance(value, dict):
        return [{key: each[lane] for key, each in value.items()} for lane in range(lanes)]
    if isinstance(value, tuple) and len(value) != lanes:
        return [tuple(each[lane] for each in value) for lane in range(lanes)]
    if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "iu":
        return list(value.tolist())
    return [value[lane] for lane in range(lanes)]


def _one(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind in "iu":
        return int(value)
    return int(value) if isinstance(value, np.integer) else value


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        array = np.ravel(np.asarray(value, dtype=np.float64))
        return float(array[0]) if array.size else math.nan


def _flag(value: Any) -> bool:
    return bool(value) if not isinstance(value, np.ndarray) else bool(value.any())
