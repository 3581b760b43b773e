"""Block: calls of one environment that were put aside, logged together. Columns; a node is made of them when asked for.

Between audits nobody looks at nodes. To make one for every observation would cost more than a small environment itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldebug.capture.env_stream import Node, Stream, When
from rldebug.capture.env_values import flag, number, one
from rldebug.capture.fingerprints import fingerprint, flat, row_fingerprints

FEWEST = 8  # calls; fewer are logged one by one
_WIDE = 4096  # numbers in an observation that is kept by itself

_WHOLE = (int, np.integer)
_FAR = 2**62

Flags = NDArray[np.bool_]


class Aside:
    """Calls of one environment, as they come: only what is needed to log them later."""

    def __init__(self, stream: Stream, obs: NDArray[Any], room: int) -> None:
        self.stream, self.shape, self.dtype, self.room = stream, obs.shape, obs.dtype, room
        self.count = 0
        self.first = stream.calls  # number of its first call
        self.wide = obs.size > _WIDE * stream.lanes
        self.obs: Any = [] if self.wide else np.empty((room, *obs.shape), dtype=obs.dtype)
        self.rewards: Any = np.zeros((room, stream.lanes)) if stream.vector else []
        self.whens: list[tuple[int, int]] = []
        self.actions: list[Any] = []
        self.ends: dict[int, tuple[Any, Any, Any]] = {}  # call -> terminated, truncated, last observations
        self.resets: dict[int, Any] = {}  # call -> seed

    def takes(self, stream: Stream, obs: Any) -> bool:
        return (
            self.stream is stream
            and self.count < self.room
            and type(obs) is np.ndarray
            and obs.shape == self.shape
            and obs.dtype == self.dtype
        )

    def add(self, when: tuple[int, int], action: Any, obs: NDArray[Any], reward: Any) -> None:
        """What is handed over is copied: the program, or the environment, may write into its arrays."""
        count = self.count
        if self.wide:
            self.obs.append(obs.copy())
        else:
            self.obs[count] = obs
        if self.stream.vector:
            self.rewards[count] = reward
        else:
            self.rewards.append(reward)
        self.whens.append(when)
        self.actions.append(action)
        self.count = count + 1

    def calls(self) -> Iterator[tuple[When, bool, Any, Any, Any, Any, Any, Any]]:
        """One by one: when, whether it is a reset, action, observation, reward, terminated, truncated, and the last
        observations, or the seed."""
        no: Any = np.zeros(self.stream.lanes, dtype=bool) if self.stream.vector else False
        for place, when in enumerate(self.whens):
            told = (*when, self.first + place)
            if place in self.resets:
                yield told, True, None, self.obs[place], None, None, None, self.resets[place]
            else:
                rest = self.ends.get(place, (no, no, None))
                yield told, False, self.actions[place], self.obs[place], self.rewards[place], *rest


def suits(aside: Aside) -> bool:
    """Whether it can be logged in columns."""
    return aside.count >= FEWEST and len(aside.shape) > aside.stream.vector


class Block:
    """Rows are in the order of calls, and of lanes within one. A row whose episode ended in that step, and of which the
    last observation is known as well, is two nodes: the observation handed over, then the last one."""

    def __init__(self, aside: Aside, start: int) -> None:
        self.stream, self.start, self.lanes, self.calls = aside.stream, start, aside.stream.lanes, aside.count
        self.whens, self.actions, self.seeds, self.number = aside.whens, aside.actions, aside.resets, aside.first
        self._read_observations(aside)
        self._read_results(aside)
        self._read_finals(aside)
        self.count = len(self.prints) + len(self.extra)
        self.alike: NDArray[np.int64] | None = None  # by node; None until somebody asks
        self.dropped = 0  # nodes whose observation is forgotten, from the first on
        self._follow_ends()

    # ── reading ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _read_observations(self, aside: Aside) -> None:
        self.block: NDArray[Any] | None = None
        self.rows: Any
        if aside.wide:
            self.rows = [row for each in aside.obs for row in (each if self.stream.vector else [each])]
            prints = [fingerprint(each) for each in self.rows]
        else:
            block = aside.obs[: aside.count]
            if 2 * aside.count < aside.room:
                block = block.copy()
            self.block = block.reshape(-1, *aside.shape[1:]) if self.stream.vector else block
            self.rows, prints = self.block, row_fingerprints(self.block.reshape(len(self.block), -1))
        self.prints = np.array(prints, dtype=np.int64)
        self.row_bytes = int(self.rows[0].nbytes)

    def _read_results(self, aside: Aside) -> None:
        shape = (aside.count, self.lanes)
        self.stepped = np.ones((aside.count, 1), dtype=bool)
        self.stepped[list(aside.resets)] = False
        if self.stream.vector:
            self.rewards = aside.rewards[: aside.count]
        else:
            self.rewards = _numbers(aside.rewards).reshape(shape)
        self.ends, self.cuts = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
        for call, (terminated, truncated, _) in aside.ends.items():
            if self.stream.vector:
                self.ends[call] = np.asarray(terminated).reshape(-1)
                self.cuts[call] = np.asarray(truncated).reshape(-1)
            else:
                self.ends[call], self.cuts[call] = flag(terminated), flag(truncated)
        self.done = self.ends | self.cuts

    def _read_finals(self, aside: Aside) -> None:
        """Last observations, where they were told: by row."""
        self.finals: dict[int, NDArray[Any]] = {}
        self.final_prints: dict[int, int] = {}
        if self.stream.autoreset != "next-step":
            for call, (_, _, more) in aside.ends.items():
                for lane, over in enumerate(self.done[call].tolist()):
                    if not over:
                        continue
                    last = more
                    if self.stream.vector:
                        last = None if more is None else more[lane]
                    elif isinstance(more, (list, tuple)) and more:
                        last = more[0]
                    if last is not None:
                        self._add_final(call * self.lanes + lane, flat(last))
        self.extra = np.array(sorted(self.final_prints), dtype=np.int64)

    def _add_final(self, row: int, last: NDArray[Any] | None) -> None:
        self.final_prints[row] = 0 if last is None else fingerprint(last)
        if last is not None:
            self.finals[row] = last

    def _follow_ends(self) -> None:
        """Which steps only reset, which observations begin an episode, and where one has ended and nobody has reset."""
        stream, shape = self.stream, self.done.shape
        final = np.zeros(self.done.size, dtype=bool)
        final[self.extra] = True
        renewed = final.reshape(shape)
        if stream.facts.get("resets_itself"):
            renewed = renewed | self.done
        over = self.done & ~renewed
        self.before = np.concatenate([np.array([stream.over], dtype=bool), over[:-1]])  # over, when the call was made
        self.phantom = self.before & self.stepped if stream.autoreset == "next-step" else np.zeros(shape, dtype=bool)
        if bool((self.done & self.phantom).any()):
            # An episode of no steps: what counts as its end depends on the one before, and so on.
            for call in range(self.calls):
                last = over[call - 1] if call else np.array(stream.over, dtype=bool)
                self.before[call] = last
                self.phantom[call] = last & self.stepped[call]
                renewed[call] |= self.phantom[call]
                over[call] = self.done[call] & ~renewed[call]
        self.over = over
        self.first = (renewed & self.done) | self.phantom | ~self.stepped
        self.counted = self.stepped & ~self.phantom

    # ── ids and nodes ───────────────────────────────────────────────────────────────────────────────────────────────

    def id_of(self, row: int) -> int:
        return self.start + row + (int(np.searchsorted(self.extra, row)) if len(self.extra) else 0)

    def fingerprints(self) -> list[int]:
        """By node."""
        prints: list[int] = self.prints.tolist()
        found: list[int] = []
        start = 0
        for row in self.extra.tolist():
            found += prints[start : row + 1]
            found.append(self.final_prints[row])
            start = row + 1
        return found + prints[start:]

    def node(self, id: int) -> Node:
        """As it was made; what is known of the step from it is filled in."""
        place, last = id - self.start, False
        row = place
        if len(self.extra):
            ids = self.extra + np.arange(len(self.extra)) + 1  # of the last observations
            before = int(np.searchsorted(ids, place))
            last = before < len(ids) and int(ids[before]) == place
            row = place - before - last
        call, lane = divmod(row, self.lanes)
        phase, update = self.whens[call]
        fp = self.final_prints[row] if last else int(self.prints[row])
        node = Node(id, fp, self.stream.index, lane, self.number + call, phase, update)
        if place >= self.dropped:
            node.obs = self.finals.get(row) if last else self.rows[row]
        if self.alike is not None:
            node.alike = int(self.alike[place])
        if last:
            node.succ = self.id_of(row)
            return node
        node.first = bool(self.first[call, lane])
        if call + 1 < self.calls:
            self.continue_from(node, call + 1, lane)
        return node

    def continue_from(self, node: Node, call: int, lane: int) -> None:
        """What that call did, from the observation before it."""
        row = call * self.lanes + lane
        id = self.id_of(row)
        if call in self.seeds:
            if node.acted or self.before[call, lane]:
                node.succ = id  # the program acts on the observation of the reset, not on the final one
            return
        action = self.actions[call]
        node.action = self.stream.parts(action)[lane] if self.stream.vector else one(action)
        node.reward, node.acted = float(self.rewards[call, lane]), True
        node.phase, node.update = self.whens[call]
        node.terminated, node.truncated = bool(self.ends[call, lane]), bool(self.cuts[call, lane])
        node.phantom = bool(self.phantom[call, lane])
        node.succ = id
        if row in self.final_prints:
            node.nxt = id + 1
        else:
            unknown = self.done[call, lane] and not node.phantom and self.stream.facts.get("resets_itself")
            node.nxt = -1 if unknown else id

    # ── what is counted of the environment ──────────────────────────────────────────────────────────────────────────

    def tell_stream(self) -> None:
        stream = self.stream
        for each in self.seeds.values():
            stream.resets += 1
            if len(stream.seeds) < 32:
                stream.seeds.append(each if isinstance(each, (int, type(None))) else str(each))
        if stream.autoreset == "disabled":
            stream.stepped_after_end += int((self.before & self.stepped).sum())
        counted = self.rewards[self.counted]
        stream.steps += len(counted)
        if len(counted):
            stream.rewarded_block(counted)
        self._tell_episodes()
        due = stream.due(np.arange(self.number, self.number + self.calls))
        self._tell_actions(due)
        self._tell_observations(np.flatnonzero(np.repeat(due, self.lanes)))
        if self.rows[0].ndim > 1 or stream.frames.open:
            self._tell_frames()
        else:
            stream.frames.calls += len(self.prints)

    def _tell_episodes(self) -> None:
        stream = self.stream
        rewards = np.where(self.counted, self.rewards, 0.0).T.tolist()
        lengths = self.counted.cumsum(axis=0)
        begun, counted = [0] * self.lanes, [0] * self.lanes
        for call, lane in np.argwhere((self.done & self.counted) | ~self.stepped).tolist():
            if call not in self.seeds:
                total, length = stream.running[lane]
                total = sum(rewards[lane][begun[lane] : call + 1], total)
                stream.running[lane] = (total, length + int(lengths[call, lane]) - counted[lane])
                stream.ended(lane, bool(self.ends[call, lane]), self.whens[call][1])
            else:
                stream.running[lane] = (0.0, 0)
            begun[lane], counted[lane] = call + 1, int(lengths[call, lane])
        for lane in range(self.lanes):
            total, length = stream.running[lane]
            total = sum(rewards[lane][begun[lane] :], total)
            stream.running[lane] = (total, length + int(lengths[-1, lane]) - counted[lane])

    def _tell_actions(self, due: Flags) -> None:
        stream, counted = self.stream, self.counted
        calls = [call for call in range(self.calls) if call not in self.seeds] if self.seeds else range(self.calls)
        actions = [self.actions[call] for call in calls] if self.seeds else self.actions
        if not actions:
            return
        kinds = set(map(type, actions))
        if kinds == {np.ndarray} and stream.vector and all(_whole(each) for each in actions):
            stream.chosen(np.concatenate(actions).reshape(-1, self.lanes)[counted[calls]])
            return
        whole = not stream.vector and all(issubclass(each, _WHOLE) for each in kinds)
        if whole and all(-_FAR < each < _FAR for each in actions):
            stream.chosen(np.array(actions).astype(np.int64)[counted[calls, 0]])
            return
        for call, action in zip(calls, actions, strict=True):
            for lane, each in enumerate(stream.parts(action)):
                if not counted[call, lane]:
                    continue
                if isinstance(each, int):
                    stream.counts[each] = stream.counts.get(each, 0) + 1
                elif due[call]:
                    stream.look_at_action(each)

    def _tell_observations(self, places: NDArray[np.intp]) -> None:
        stream, lanes = self.stream, self.lanes
        if not len(places):
            return
        last = [None if each is None else each.fp for each in stream.current]
        rows = places.tolist()
        prints = self.prints.tolist()
        before = [last[row] if row < lanes else prints[row - lanes] for row in rows]
        repeated = [prints[row] == fp for row, fp in zip(rows, before, strict=True)]
        if self.block is None:
            for row, same in zip(rows, repeated, strict=True):
                stream.look_at_obs(self.rows[row], same)
        else:
            stream.look_at_block(self.block[places], sum(repeated))
        if self.finals:
            previous = dict(zip(rows, before, strict=True))
            for row, each in self.finals.items():
                if row in previous:
                    stream.look_at_obs(each, self.final_prints[row] == previous[row])

    def _tell_frames(self) -> None:
        stream, lanes, first = self.stream, self.lanes, self.first.reshape(-1)
        for row, obs in enumerate(self.rows):
            now = stream.current[row] if row < lanes else None
            before = self.rows[row - lanes] if row >= lanes else None if now is None else now.obs
            if row >= lanes or now is not None or 0 in self.seeds:
                last = self.finals.get(row, before) if first[row] else before
                stream.frames.look(last, obs, reset=bool(first[row]))

    def drop(self, count: int) -> None:
        """Forget the observations of so many more nodes."""
        self.dropped += count
        if self.dropped >= self.count:
            self.block, self.rows, self.finals = None, (), {}
        elif self.block is None:
            rows = self.dropped - int(np.searchsorted(self.extra + np.arange(len(self.extra)) + 1, self.dropped))
            self.rows = [None if row < rows else each for row, each in enumerate(self.rows)]


def _whole(action: Any) -> bool:
    return isinstance(action, np.ndarray) and action.ndim == 1 and action.dtype.kind in "iu"


def _numbers(values: list[Any]) -> NDArray[np.float64]:
    try:
        array = np.array(values, dtype=np.float64)
        if array.shape == (len(values),):
            return array
    except (TypeError, ValueError):
        pass
    return np.array([number(each) for each in values], dtype=np.float64)


def start_of(block: Block) -> int:
    return block.start
