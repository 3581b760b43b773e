"""EnvLog: every observation handed to the program, and the step it took from each. Bounded, and always on.
 One node for each observation. A node remembers its fingerprint, the action and reward of the step from it, and where
it led: `nxt`, the true next state, and `succ`, what the program acts on next in that lane. They differ at the end of
an episode. Nodes older than CAPACITY are forgotten; a training row that is older is unknown, which says nothing
against it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any
from weakref import ReferenceType

import numpy as np
from numpy.typing import NDArray

from rldebug.capture.env_stream import Aside, Node, Seen, Stream, When
from rldebug.capture.env_values import copied, flag, inner_of, number, one, strong, weak
from rldebug.capture.fingerprints import fingerprint, flat, row_fingerprints

CAPACITY = 1 << 17  # nodes
RECENT = 4096  # nodes whose observation itself is kept, where it is narrow
RECENT_BYTES = 4 << 20
_ROUND = 256  # environments that are stepped in turn
ASIDE = 256  # calls that are put aside at most
ASIDE_BYTES = 1 << 20
_WIDE = 4096  # numbers in an observation that is not copied once more


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
        self.failed: Callable[[], None] | None = None
        self.lazy = False  # nobody looks at nodes for now: steps are put aside
        self._steps = 0
        self._when: When = (0, 0, 0)
        self._aside: list[Aside] = []
        self._aside_bytes = 0
        self._known: dict[int, tuple[ReferenceType[Any] | Any, Stream]] = {}
        self._bytes = 0
        self._lock = threading.RLock()  # actors may run in threads of their own

    # ── what the hooks tell ─────────────────────────────────────────────────────────────────────────────────────────

    def new(self, env: Any, kind: str, lanes: int, autoreset: str, facts: dict[str, Any]) -> Stream:
        stream = Stream(len(self.streams), env, kind, lanes, autoreset, facts)
        self.streams.append(stream)
        for each in {id(env): env, id(inner_of(env)): inner_of(env)}.values():
            self._known[id(each)] = (weak(each), stream)
        return stream

    def stream_of(self, env: Any) -> Stream | None:
        found = self._known.get(id(env))
        if found is not None and strong(found[0]) is env:
            return found[1]
        inner = inner_of(env)
        found = self._known.get(id(inner))
        if found is not None and strong(found[0]) is inner:
            self._known[id(env)] = (weak(env), found[1])
            return found[1]
        return None

    def reset(self, env: Any, obs: Any, seed: Any, lanes: int, mask: Any = None) -> None:
        self.on_call(env)
        with self._lock:
            stream = self.stream_of(env) or self.new(env, "unknown", lanes, "disabled", {})
            when = self._called(stream)
            if self.lazy and type(obs) is np.ndarray and mask is None:
                self._put_aside(stream, when, None, obs, None, seed, None, None)
            else:
                self.flush()
                self._saw_reset(stream, when, obs, seed, mask)
            stream.last = obs

    def _saw_reset(self, stream: Stream, when: When, obs: Any, seed: Any, mask: Any) -> None:
        self._when = when
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
                before.succ = node.id  # the program acts on the observation of the reset, not on the final one
            stream.current[lane] = node
            stream.over[lane] = False
            stream.running[lane] = (0.0, 0)

    def step(
        self, env: Any, action: Any, obs: Any, reward: Any, terminated: Any, truncated: Any, final_obs: Any
    ) -> None:
        self.on_call(env)
        with self._lock:
            stream = self.stream_of(env)
            if stream is None:
                lanes = len(reward) if getattr(reward, "ndim", 0) else 1
                kind = "unknown-vector" if getattr(reward, "ndim", 0) else "unknown"
                stream = self.new(env, kind, lanes, "disabled", {})
            when = self._called(stream)
            if stream.last is not None and obs is stream.last and not isinstance(obs, (int, float)):
                stream.aliased += 1
            if self.lazy and type(obs) is np.ndarray:
                self._put_aside(stream, when, action, obs, reward, final_obs, terminated, truncated)
            else:
                self.flush()
                self._saw_step(stream, when, action, obs, reward, terminated, truncated, final_obs)
            stream.last = obs

    def _saw_step(
        self, stream: Stream, when: When, action: Any, obs: Any, reward: Any, terminated: Any, truncated: Any,
        final_obs: Any,
    ) -> None:  # fmt: skip
        self._when = when
        if not stream.vector:
            final = final_obs[0] if isinstance(final_obs, (list, tuple)) and final_obs else final_obs
            reward, ended, cut = number(reward), flag(terminated), flag(truncated)
            self._step(stream, 0, one(action), one(obs), reward, ended, cut, final)
            return
        actions, each_obs = stream.parts(action), stream.parts(obs)
        rewards, ends, cuts = np.ravel(reward).tolist(), np.ravel(terminated).tolist(), np.ravel(truncated).tolist()
        for lane in range(stream.lanes):
            final = final_obs[lane] if final_obs is not None else None
            self._step(
                stream, lane, actions[lane], each_obs[lane], float(rewards[lane]), bool(ends[lane]), bool(cuts[lane]),
                final,
            )  # fmt: skip

    def _step(
        self, stream: Stream, lane: int, action: Any, obs: Any, reward: float, terminated: bool, truncated: bool,
        final: Any, fp: int | None = None,
    ) -> None:  # fmt: skip
        before = stream.current[lane]
        if obs is None and stream.over[lane]:
            return  # an agent that is out, while others play on
        done = terminated or truncated
        phantom = stream.over[lane] and stream.autoreset == "next-step"
        if stream.over[lane] and not phantom and stream.autoreset == "disabled":
            stream.stepped_after_end += 1
        node = self._node(stream, lane, obs, fp)
        led_to: Node | None = node
        if done and final is not None and stream.autoreset != "next-step":
            led_to = self._node(stream, lane, final)
            led_to.succ = node.id
            node.first = True
        elif phantom:
            node.first = True
        elif done and stream.facts.get("resets_itself"):
            # What it returned is where the next episode starts; where this one ended nobody was told.
            node.first, led_to = True, None
        if before is not None:
            before.action, before.reward, before.acted = action, reward, True
            before.phase, before.update = self._when[:2]
            before.terminated, before.truncated, before.phantom = terminated, truncated, phantom
            before.nxt = led_to.id if led_to is not None else -1
            before.succ = node.id
        stream.current[lane] = node
        stream.over[lane] = done and not node.first
        if before is not None:
            stream.frames.look(before.obs, node.obs, reset=node.first)
        if phantom:
            return
        self._steps += 1
        stream.steps += 1
        total, length = stream.running[lane]
        stream.running[lane] = (total + reward, length + 1)
        if done:
            stream.ended(lane, terminated, self._when[1])
        stream.rewarded([reward])
        if isinstance(action, int):
            stream.counts[action] = stream.counts.get(action, 0) + 1
        elif stream.steps < 256 or stream.steps % 8 == 0:
            stream.look_at_action(action)

    # ── put aside, and logged later ─────────────────────────────────────────────────────────────────────────────────

    def _put_aside(
        self, stream: Stream, when: When, action: Any, obs: NDArray[Any], reward: Any, more: Any, terminated: Any,
        truncated: Any,
    ) -> None:  # fmt: skip
        """Between audits nobody asks for nodes: they are made in blocks, at a fifth of the cost."""
        kept = obs.copy()  # the program, or the environment, may write into its arrays
        if reward is not None:
            if stream.vector:
                reward, terminated, truncated = np.array(reward), np.array(terminated), np.array(truncated)
            if more is not None:
                more = kept if more is obs else copied(more)
        self._aside.append((stream, when, action, kept, reward, more, terminated, truncated))
        self._aside_bytes += obs.nbytes
        if len(self._aside) >= ASIDE or self._aside_bytes > ASIDE_BYTES:
            self.flush()

    def flush(self) -> None:
        """Log what was put aside. Called before anything is read."""
        if not self._aside:
            return
        with self._lock:
            aside, self._aside, self._aside_bytes = self._aside, [], 0
            start = 0
            try:
                for place, (stream, _, _, obs, *_) in enumerate(aside):
                    first = aside[start]
                    if stream is not first[0] or obs.shape != first[3].shape or obs.dtype != first[3].dtype:
                        self._log(aside[start:place])
                        start = place
                self._log(aside[start:])
            except Exception:
                if self.failed is None:
                    raise
                self.failed()  # whoever wanted to read something is not to blame

    def _log(self, calls: list[Aside]) -> None:
        """Calls of one environment, one after the other. Does what _saw_step and _saw_reset do."""
        stream, _, _, obs, *_ = calls[0]
        lanes, vector = stream.lanes, stream.vector
        if len(calls) < 4 or (vector and (obs.ndim < 2 or len(obs) != lanes)) or obs.ndim == 0:
            for stream, when, action, obs, reward, more, terminated, truncated in calls:
                if reward is None:
                    self._saw_reset(stream, when, obs, more, None)
                else:
                    self._saw_step(stream, when, action, obs, reward, terminated, truncated, more)
            return
        block: Any = None
        if obs.size > _WIDE * lanes:
            rows = [row for each in calls for row in (each[3] if vector else [each[3]])]
            prints = [fingerprint(each) for each in rows]
        else:
            block = np.stack([each[3] for each in calls])
            block = block.reshape(len(calls) * lanes, *obs.shape[1:]) if vector else block
            rows, prints = list(block), row_fingerprints(block.reshape(len(block), -1))
        seen = Seen([], 0, [])
        start = 0
        for _, when, action, obs, reward, more, terminated, truncated in calls:
            self._when = when
            if reward is None:
                self._saw_reset(stream, when, obs, more, None)
            elif vector:
                self._log_step(
                    stream, start, rows, prints, stream.parts(action), np.ravel(reward).astype(np.float64).tolist(),
                    np.ravel(terminated).tolist(), np.ravel(truncated).tolist(), more, seen,
                )  # fmt: skip
            else:
                final = more[0] if isinstance(more, (list, tuple)) and more else more
                ended, cut = flag(terminated), flag(truncated)
                self._log_step(
                    stream, start, rows, prints, [one(action)], [number(reward)], [ended], [cut], [final], seen
                )
            start += lanes
        self._steps += len(seen.rewards)
        stream.steps += len(seen.rewards)
        if seen.rewards:
            stream.rewarded(seen.rewards)
        if block is None:
            for count, place in enumerate(seen.places):
                stream.look_at_obs(rows[place], count < seen.repeated)
        elif seen.places:
            stream.look_at_block(block[seen.places], seen.repeated)

    def _log_step(
        self, stream: Stream, start: int, rows: Sequence[Any], prints: list[int], actions: Sequence[Any],
        rewards: list[float], ends: list[Any], cuts: list[Any], finals: Any, seen: Seen,
    ) -> None:  # fmt: skip
        phase, update, call = self._when
        look, pictures = call < 256 or call % 8 == 0, rows[start].ndim == 3
        current, running, over, counts = stream.current, stream.running, stream.over, stream.counts
        for lane, (action, reward) in enumerate(zip(actions, rewards, strict=True)):
            place = start + lane
            before, fp = current[lane], prints[place]
            if ends[lane] or cuts[lane] or over[lane] or before is None:
                final = None if finals is None else finals[lane]
                ended, cut = bool(ends[lane]), bool(cuts[lane])
                self._step(stream, lane, action, rows[place], reward, ended, cut, final, fp)
                continue
            node = self._made(stream, lane, fp, rows[place])
            if look:
                seen.places.append(place)
                seen.repeated += before.fp == fp
            before.action, before.reward, before.acted = action, reward, True
            before.phase, before.update = phase, update
            before.nxt = before.succ = node.id
            current[lane] = node
            if pictures:
                stream.frames.look(before.obs, node.obs, reset=False)
            total, length = running[lane]
            running[lane] = (total + reward, length + 1)
            seen.rewards.append(reward)
            if type(action) is int:
                counts[action] = counts.get(action, 0) + 1
            elif look:
                stream.look_at_action(action)

    # ── inside ──────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def steps(self) -> int:
        self.flush()
        return self._steps

    def _called(self, stream: Stream) -> When:
        self.calls += 1
        stream.calls += 1
        if stream is not self.newest:
            if stream.index in self.round or len(self.round) >= _ROUND:
                self.round = {}  # its turn again: another round
            self.newest = stream
        self.round[stream.index] = stream
        phase, update = self.clock()
        if phase != stream.phase:
            stream.phase = phase
            stream.phases += 1
        return phase, update, stream.calls

    def _node(self, stream: Stream, lane: int, obs: Any, fp: int | None = None) -> Node:
        array = flat(obs)
        before = stream.current[lane]
        if array is None:
            return self._made(stream, lane, 0, None)
        if fp is None:
            fp = fingerprint(array)
            array = array.copy()  # the environment may reuse its array
        node = self._made(stream, lane, fp, array)
        if self._when[2] < 256 or self._when[2] % 8 == 0:
            stream.look_at_obs(array, before is not None and before.fp == fp)
        return node

    def _made(self, stream: Stream, lane: int, fp: int, array: NDArray[Any] | None) -> Node:
        nodes = self.nodes
        if len(nodes) >= 2 * CAPACITY:
            self._forget()
            nodes = self.nodes
        phase, update, call = self._when
        node = Node(self.next_id, fp, stream.index, lane, call, phase, update)
        self.next_id += 1
        nodes.append(node)
        if array is None:
            return node
        if stream.shape is None:
            stream.shape, stream.dtype = array.shape, str(array.dtype)
        same = self.index.get(fp)
        if same is not None:
            node.alike = same.id
        self.index[fp] = node
        node.obs = array
        self.recent.append(node)
        self._bytes += array.nbytes
        if len(self.recent) > RECENT or self._bytes > RECENT_BYTES:
            self._drop()
        return node

    def _forget(self) -> None:
        """The older half. Seldom, and all at once: a list is quick to look things up in by number."""
        gone, self.nodes = self.nodes[:CAPACITY], self.nodes[CAPACITY:]
        for each in gone:
            if self.index.get(each.fp) is each:
                del self.index[each.fp]

    def _drop(self) -> None:
        while len(self.recent) > RECENT or (self._bytes > RECENT_BYTES and len(self.recent) > 8):
            old = self.recent.popleft()
            if old.obs is not None:
                self._bytes -= old.obs.nbytes
                old.obs = None

    def find(self, fp: int) -> Node | None:
        self.flush()
        return self.index.get(fp)

    def get(self, id: int) -> Node | None:
        """By id; None where it is forgotten."""
        self.flush()
        place = id - self.next_id + len(self.nodes)
        return self.nodes[place] if 0 <= place < len(self.nodes) else None

    def current(self, count: int | None = None) -> list[Node]:
        """What the program acts on now: in the environment called last, or in all those it has called in turn, where
        that makes as many as it acts on."""
        self.flush()
        if self.newest is None:
            return []
        last = [each for each in self.newest.current if each is not None]
        if count is None or count == len(last):
            return last
        together = [each for stream in self.round.values() for each in stream.current if each is not None]
        return together if len(together) == count else last
