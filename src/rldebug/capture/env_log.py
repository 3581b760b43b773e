"""EnvLog: every observation handed to the program, and the step it took from each. Bounded, and always on.
 One node for each observation. A node remembers its fingerprint, the action and reward of the step from it, and where
it led: `nxt`, the true next state, and `succ`, what the program acts on next in that lane. They differ at the end of
an episode. Nodes older than CAPACITY are forgotten; a training row that is older is unknown, which says nothing
against it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any
from weakref import ReferenceType

import numpy as np

from rldebug.capture.env_block import FEWEST, Aside, Block, suits
from rldebug.capture.env_nodes import Memory
from rldebug.capture.env_stream import Node, Stream, When
from rldebug.capture.env_values import STILL, copied, flag, inner_of, number, one, strong, weak
from rldebug.capture.fingerprints import fingerprint, flat
from rldebug.capture.layout import layout_of

_ROUND = 256  # environments that are stepped in turn
ASIDE = 1024  # calls that are put aside at most
ASIDE_BYTES = 1 << 20
_IN_TURN = 4
_MOST = 64  # environments whose calls are put aside
_PLAYED = 4  # calls: a reset and some steps


class EnvLog(Memory):
    def __init__(self, clock: Callable[[], tuple[int, int]], on_call: Callable[[Any], None]) -> None:
        super().__init__()
        self.clock = clock  # the phase, and optimizer steps so far
        self.on_call = on_call  # with the environment, before a call is logged: a phase may end here
        self.streams: list[Stream] = []
        self.last = 0  # id() of the environment called last
        self.newest: Stream | None = None  # the one called last
        self.resetting = False  # the call that is told of is a reset
        self.round: dict[int, Stream] = {}  # those called in turn, each once so far
        self.left: Stream | None = None  # the one called before the newest, where that was then begun anew
        self._since = 0  # calls of the newest since then
        self.calls = 0
        self.failed: Callable[[], None] | None = None
        self.timed: AbstractContextManager[None] = nullcontext()  # around what is logged at once
        self.lazy = False  # nobody looks at nodes for now: steps are put aside
        self._steps = 0
        self._aside: list[Aside] = []
        self._now: Aside | None = None  # the one under way
        self._aside_bytes = 0  # that there is room for
        self._in_turn = False
        self.wake_at = 0  # the number of calls from which on the next one is told to on_call
        self.now = (0, 0)  # what the clock said at the last call
        self._known: dict[int, tuple[ReferenceType[Any] | Any, Stream]] = {}

    # ── what the hooks tell ─────────────────────────────────────────────────────────────────────────────────────────

    def new(self, env: Any, kind: str, lanes: int, autoreset: str, facts: dict[str, Any]) -> Stream:
        stream = Stream(len(self.streams), env, kind, lanes, autoreset, facts)
        self.streams.append(stream)
        self.last = 0
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
        self.resetting = True
        self.on_call(env)
        self.resetting = False
        with self._lock:
            stream = self.stream_of(env) or self.new(env, "unknown", lanes, "disabled", {})
            when = self._called(stream, begins=True)
            if mask is None and (aside := self._aside_for(stream, obs)) is not None:
                aside.resets[aside.count] = seed
                aside.add(self.now, None, obs, 0.0)
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
            self.last = id(env)
            stream = self.stream_of(env)
            if stream is None:
                lanes = len(reward) if getattr(reward, "ndim", 0) else 1
                kind = "unknown-vector" if getattr(reward, "ndim", 0) else "unknown"
                stream = self.new(env, kind, lanes, "disabled", {})
            when = self._called(stream)
            if stream.last is not None and obs is stream.last and not isinstance(obs, (int, float)):
                stream.aliased += 1
            if (aside := self._aside_for(stream, obs)) is not None:
                if np.any(terminated) or np.any(truncated):
                    aside.ends[aside.count] = (copied(terminated), copied(truncated), copied(final_obs))
                aside.add(self.now, action, obs, np.ravel(reward) if stream.vector else reward)
            else:
                self.flush()
                with self.timed:
                    self._saw_step(stream, when, action, obs, reward, terminated, truncated, final_obs)
            stream.last = obs

    def quick_step(
        self, env: Any, stream: Stream, action: Any, obs: Any, reward: Any, ended: Any, cut: Any, finals: Any,
        done: bool,
    ) -> None:  # fmt: skip
        """As step, where the stream is known, and the results are arrays or plain numbers; done: an episode ends."""
        with self._lock:
            aside = self._now
            if self.calls < self.wake_at and id(env) == self.last and aside is not None and aside.takes(stream, obs):
                self.calls += 1
                stream.calls += 1
                if obs is stream.last:
                    stream.aliased += 1
                stream.last = obs
                if done:
                    aside.ends[aside.count] = (copied(ended), copied(cut), copied(finals))
                aside.add(self.now, action, obs, reward)
                return
        self._less_quick_step(env, stream, action, obs, reward, ended, cut, finals, done)

    def _less_quick_step(
        self, env: Any, stream: Stream, action: Any, obs: Any, reward: Any, ended: Any, cut: Any, finals: Any,
        done: bool,
    ) -> None:  # fmt: skip
        self.on_call(env)
        with self._lock:
            self.last = id(env)
            when = self._called(stream)
            if obs is stream.last:
                stream.aliased += 1
            stream.last = obs
            aside = self._aside_for(stream, obs)
            if aside is not None:
                if done:
                    aside.ends[aside.count] = (copied(ended), copied(cut), copied(finals))
                aside.add(self.now, action, obs, reward)
                return
            self.flush()
            with self.timed:
                self._saw_step(stream, when, action, obs, reward, ended, cut, finals)

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
        final: Any,
    ) -> None:  # fmt: skip
        before = stream.current[lane]
        if obs is STILL or (obs is None and stream.over[lane]):
            return  # an agent that is out, while others play on
        done = terminated or truncated
        phantom = stream.over[lane] and stream.autoreset == "next-step"
        if stream.over[lane] and not phantom and stream.autoreset == "disabled":
            stream.stepped_after_end += 1
        node = self._node(stream, lane, obs)
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
            last = led_to if led_to is not None and led_to is not node else before
            stream.frames.look(last.obs, node.obs, reset=node.first)
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

    def _aside_for(self, stream: Stream, obs: Any) -> Aside | None:
        """Between audits nobody asks for nodes: what they are made of is kept, and logged in blocks.

        The call itself is counted already.
        """
        if not self.lazy or type(obs) is not np.ndarray or obs.dtype.kind not in "fiub":
            return None
        aside, number = self._now, stream.calls
        if aside is not None and aside.takes(stream, obs) and aside.first + aside.count == number:
            return aside
        if stream.vector and len(obs) != stream.lanes:
            return None
        if len(self._aside) > _IN_TURN:
            # Many environments that are called in turn: the calls of each are kept together.
            self._in_turn = self._in_turn or sum(each.count for each in self._aside) < FEWEST * len(self._aside)
            own = [each for each in self._aside if each.stream is stream] if self._in_turn else []
            if own and own[-1].takes(stream, obs) and own[-1].first + own[-1].count == number:
                self._now = own[-1]
                return self._now
            if own or not self._in_turn:
                self.flush()
        size = max(obs.nbytes, 1)
        room = max(min(ASIDE, ASIDE_BYTES // size), 1)
        if self._aside_bytes + room * size > ASIDE_BYTES and (len(self._aside) >= _MOST or room < ASIDE):
            self.flush()
        self._now = Aside(stream, obs, room)
        self._aside.append(self._now)
        self._aside_bytes += room * size
        return self._now

    def flush(self) -> None:
        """Log what was put aside. Called before anything is read."""
        if not self._aside:
            return
        with self._lock:
            aside, self._aside, self._now = self._aside, [], None
            self._aside_bytes, self._in_turn = 0, False
            try:
                for each in aside:
                    self._log(each)
            except Exception:
                if self.failed is None:
                    raise
                self.failed()  # whoever wanted to read something is not to blame

    def _log(self, aside: Aside) -> None:
        """Calls of one environment, one after the other. Does what _saw_step and _saw_reset do."""
        stream = aside.stream
        if not suits(aside):
            for when, reset, action, obs, reward, terminated, truncated, more in aside.calls():
                if reset:
                    self._saw_reset(stream, when, obs, more, None)
                else:
                    self._saw_step(stream, when, action, obs, reward, terminated, truncated, more)
            return
        block = Block(aside, self.next_id)
        if stream.shape is None:
            stream.shape, stream.dtype = block.rows[0].shape, str(block.rows[0].dtype)
        block.tell_stream()
        self._steps += int(block.counted.sum())
        self._remember(block)

    # ── inside ──────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def steps(self) -> int:
        if any(each.stream.autoreset == "next-step" for each in self._aside):
            self.flush()  # some of them may only reset, and do not count
        return self._steps + sum((each.count - len(each.resets)) * each.stream.lanes for each in self._aside)

    def _called(self, stream: Stream, begins: bool = False) -> When:
        self.calls += 1
        stream.calls += 1
        self._since += 1
        if stream is not self.newest:
            self.left, self._since = self.newest if begins else None, 1
            if stream.index in self.round or len(self.round) >= _ROUND:
                self.round = {}  # its turn again: another round
            self.newest = stream
        self.round[stream.index] = stream
        phase, update = self.now = self.clock()
        if phase != stream.phase:
            stream.phase = phase
            stream.phases += 1
        return phase, update, stream.calls

    def _node(self, stream: Stream, lane: int, obs: Any) -> Node:
        if isinstance(obs, dict):
            obs = stream.in_order(obs)
        array = flat(obs)
        before = stream.current[lane]
        if array is None:
            return self._made(stream, lane, 0, None)
        if stream.shape is None and isinstance(obs, (dict, tuple)):
            stream.layout = layout_of(obs)
        fp = fingerprint(array)
        array = array.copy()  # the environment may reuse its array
        node = self._made(stream, lane, fp, array)
        if stream.due(self._when[2]):
            stream.look_at_obs(array, before is not None and before.fp == fp)
        return node

    def current(self, count: int | None = None) -> list[Node]:
        """What the program acts on now: in the environment called last, or in all those it has called in turn, where
        that makes as many as it acts on."""
        self.flush()
        if self.newest is None:
            return []
        acted_on = self.left if self._played_through() and self.left is not None else self.newest
        last = [each for each in acted_on.current if each is not None]
        if count is None or count == len(last):
            return last
        together = [each for stream in self.round.values() for each in stream.current if each is not None]
        return together if len(together) == count else last

    def _played_through(self) -> bool:
        """Whole episodes of one environment, as in an evaluation, while another waits amid its own, and goes on now."""
        left, newest = self.left, self.newest
        if left is None or newest is None or self._since < _PLAYED or newest.autoreset != "disabled":
            return False
        alike = (left.lanes, left.shape) == (newest.lanes, newest.shape)
        return alike and all(newest.over) and not any(left.over) and all(each is not None for each in left.current)
