"""Recording: an audit while it lasts. Lists of plain data, bounded; becomes one file of the run folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from rldebug.capture.env_log import EnvLog
from rldebug.capture.env_stream import Node
from rldebug.capture.fingerprints import flat
from rldebug.capture.matching import Matcher
from rldebug.evidence.script import Audit, Event, Nodes

EVENTS = 16384  # of one audit; a warm-up of fifty thousand steps is one phase
MERGED = 12288  # of those that come with every step of the environment: they must leave room for the losses
NODES = 8192
SEEN = 64  # updates after the first loss of each line of code; a phase of PPO may have hundreds
WIDTH = 64  # columns that are kept of an observation
_BEFORE = 1024  # rows whose step before is kept too
CELLS = 1 << 15  # of an output, up to which it is kept whole
_PRINT = (1 << 52) - 1  # bits of a fingerprint that a float holds exactly
_HOPS = 10  # steps that are followed from each row: a target may add up the rewards of several
_WORLD = 1024  # nodes before it that are kept, where observations come back: one of them stands for many steps
_RECENT = 48  # events before a loss is minimised among which those that made it are looked for
_MERGED = ("call", "logp", "sample", "entropy")  # kinds of which there is one for each step of the environment


@dataclass
class Recording:
    number: int
    phase: int
    update: int
    env_step: int
    log: EnvLog
    matcher: Matcher
    updates: Any  # how many optimizer steps so far: asked for at each event
    evaluation: Any = None  # the environment that is looked at, where it is not one that is learned from
    beside: list[Any] = field(default_factory=list)  # others that are played in turn with that
    heard: Callable[[Event], None] | None = None
    first_call: int = 0  # of an environment
    first_node: int = 0
    walked: int = 0
    losses: int = 0
    steps: int = 0
    newest: int = 0  # steps before the last loss of a line that had none before
    cut: bool = False  # the program went on learning in this phase
    scouts_for: dict[str, int] | None = None  # ends of episodes that it is to see, by kind, and how many there were
    since: float = 0.0  # seconds that audits had taken when it began
    events: list[Event] = field(default_factory=list)
    referred: set[int] = field(default_factory=set)

    @property
    def late(self) -> bool:
        """Every loss was seen often enough: what is new is only how often a row is learned from."""
        return self.steps > self.newest + SEEN

    def event(
        self,
        kind: str,
        detail: dict[str, Any],
        arrays: dict[str, NDArray[Any]] | None = None,
        *,
        update: int | None = None,
    ) -> None:
        """`update`: the optimizer steps so far, where it is of an earlier time than now."""
        if len(self.events) >= (MERGED if kind in _MERGED else EVENTS):
            return
        now = self.updates() if update is None else update
        event = Event(len(self.events), kind, now, self.log.calls, detail, arrays or {})
        self.events.append(event)
        if self.heard is not None:
            self.heard(event)

    def rows(self, tensors: Sequence[Tensor]) -> tuple[NDArray[np.int64], str]:
        """Node ids of the rows of a network's input, and how they were found."""
        ids, how = self.matcher.rows(tensors)
        self.refer(ids)
        return ids, how

    def refer(self, ids: NDArray[np.int64]) -> None:
        if len(self.referred) < NODES:
            self.referred.update(ids[ids >= 0].tolist())

    def asked_at(self, modules: Sequence[str], rows: NDArray[np.int64]) -> int | None:
        """The optimizer steps before networks were last asked about these rows, to learn from their answers. Losses
        that are computed together are minimised one by one: the steps of the others in between change nothing. None
        where a step of the same networks lies in between."""
        for event in self.events[: -_RECENT - 1 : -1]:
            if event.kind == "step" and any(each in event.detail.get("grad_norms", ()) for each in modules):
                return None
            if event.kind == "call" and event.detail["grad"] and event.detail["module"] in modules:
                given = event.arrays["rows"]
                if 0 < len(given) <= len(rows) and np.array_equal(given, rows[: len(given)]):
                    return event.update
        return None

    def in_parts(self, modules: Sequence[str], known: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """The rows that these networks were asked about since the last step, to learn from their answers, where these
        were given in parts; None where there were others. What puts parts together for them may be a module of its own;
        its rows may have been put in another order since, and count where those that are known are the same."""
        count = len(known)
        own: NDArray[np.int64] | None = None  # of these networks
        other: NDArray[np.int64] | None = None  # of whatever has no weights, and puts the parts together for them
        several = False
        for event in self.events[: -_RECENT - 1 : -1]:
            if event.kind == "step":
                break
            if event.kind != "call" or not event.detail["grad"] or event.detail["match"] != "parts":
                continue
            rows = event.arrays["rows"]
            if len(rows) != count:
                continue
            if event.detail["module"] in modules:
                if own is not None and not np.array_equal(own, rows):
                    return None
                own = rows
            several = several or (other is not None and not np.array_equal(other, rows))
            other = rows
        if own is not None or several or other is None:
            return own
        told = known >= 0
        return other if told.any() and np.array_equal(other[told], known[told]) else None

    def finish(self) -> Audit:
        """As it is written. The nodes are those of this stretch, those that rows referred to, and where they lead."""
        wanted = set(range(max(self.first_node, self.log.next_id - NODES), self.log.next_id)) | self.referred
        wanted |= self._beside()
        for each in list(wanted):
            node = self.log.get(each)
            if node is not None:
                wanted.update((node.nxt, node.succ))
        several = self._several()
        for number, each in enumerate(self.referred):
            if number < _BEFORE:
                wanted.update(self._before(each))
            if several:
                self._follow(each, wanted)
        nodes = [node for each in sorted(wanted) if (node := self.log.get(each)) is not None]
        events = tuple(merged(self.events))
        return Audit(self.number, self.phase, self.update, self.env_step, columns(nodes), events, self.cut)

    def _beside(self) -> set[int]:
        """Where most rows are of observations that come back, the newest steps of the world that they may be of."""
        alike = [node.alike >= 0 for each in self.referred if (node := self.log.get(each)) is not None]
        if len(alike) < 4 or sum(alike) < 0.3 * len(alike):
            return set()
        return set(range(max(0, self.first_node - _WORLD), self.log.next_id))

    def _several(self) -> bool:
        """Whether targets may be of several steps: networks are asked about rows that are not those one step on."""
        asked: dict[tuple[int, int], list[NDArray[np.int64]]] = {}
        for event in self.events:
            rows = event.arrays.get("rows") if event.kind == "call" and not event.detail.get("acting") else None
            if rows is not None and len(rows) >= 8:
                asked.setdefault((event.update, len(rows)), []).append(rows)
        calls = [each for each in asked.values() if len(each) > 1][:4]
        return bool(calls) and not any(self._one_step(one, two) for each in calls for one in each for two in each)

    def _one_step(self, one: NDArray[np.int64], two: NDArray[np.int64]) -> bool:
        nodes = [self.log.get(each) for each in one[:32].tolist()]
        led = [node is not None and node.nxt == int(row) >= 0 for node, row in zip(nodes, two[:32], strict=True)]
        return sum(led) > 0.4 * len(led)

    def _before(self, id: int) -> set[int]:
        """The step that led to this one: targets may hold its reward by mistake. Lanes take turns."""
        node = self.log.get(id)
        lanes = self.log.streams[node.stream].lanes if node is not None and node.stream < len(self.log.streams) else 1
        near = (self.log.get(id - each) for each in (1, 2, lanes, lanes + 1))
        return {each.id for each in near if each is not None and id in (each.nxt, each.succ)}

    def _follow(self, id: int, wanted: set[int]) -> None:
        """The steps that were taken after this one, also past the end of its episode: windows may run over it."""
        for _ in range(_HOPS):
            node = self.log.get(id)
            if node is None or len(wanted) >= 4 * NODES:
                return
            wanted.update((node.id, node.nxt))
            id = node.succ if node.succ >= 0 else node.nxt


def columns(nodes: Sequence[Node]) -> Nodes:
    obs, stats = _observations(nodes)

    def whole(name: str) -> NDArray[np.int64]:
        return np.array([getattr(each, name) for each in nodes], dtype=np.int64)

    def flags(name: str) -> NDArray[np.bool_]:
        return np.array([getattr(each, name) for each in nodes], dtype=bool)

    return Nodes(
        id=whole("id"), stream=whole("stream"), lane=whole("lane"), call=whole("call"), phase=whole("phase"),
        update=whole("update"), reward=np.array([each.reward for each in nodes], dtype=np.float64),
        terminated=flags("terminated"), truncated=flags("truncated"), phantom=flags("phantom"), first=flags("first"),
        acted=flags("acted"), action=_actions(nodes), nxt=whole("nxt"), succ=whole("succ"),
        alike=np.array([each.alike >= 0 for each in nodes], dtype=np.int64), obs=obs, obs_stats=stats,
    )  # fmt: skip


def _actions(nodes: Sequence[Node]) -> NDArray[np.float64]:
    """One row each; NaN where none was taken."""
    taken = [(place, each.action) for place, each in enumerate(nodes) if each.acted and each.action is not None]
    width = 1 if all(type(each) is int for _, each in taken) else max(_width(each) for _, each in taken)
    actions = np.full((len(nodes), width), np.nan)
    for place, each in taken:
        if type(each) is int:
            actions[place, 0] = each
        elif (row := flat(each)) is not None:
            cells = row.reshape(-1)[:width]
            actions[place, : len(cells)] = cells
    return actions


def _observations(nodes: Sequence[Node]) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """The observations where they are narrow, and range, mean and spread of each; NaN where they are forgotten.

    The fifth number is a fingerprint: pictures of a small game have all the same range, mean and spread.
    """
    of_size: dict[int, list[int]] = {}
    for place, each in enumerate(nodes):
        if each.obs is not None and each.obs.size:
            of_size.setdefault(each.obs.size, []).append(place)
    widest = max(of_size, default=0)
    obs = np.full((len(nodes), widest if widest <= WIDTH else 0), np.nan, dtype=np.float32)
    stats = np.full((len(nodes), 5), np.nan)
    stats[:, 4] = [each.fp & _PRINT for each in nodes]
    for size, places in of_size.items():
        rows = np.stack([nodes[each].obs.reshape(-1) for each in places]).astype(np.float32)  # type: ignore[union-attr]
        if size <= obs.shape[1]:
            obs[places, :size] = rows
        stats[places, :4] = np.stack([rows.min(axis=1), rows.max(axis=1), rows.mean(axis=1), rows.std(axis=1)], axis=1)
    return obs, stats


def _width(action: Any) -> int:
    row = flat(action)
    return 1 if row is None else min(max(row.size, 1), 16)


def merged(events: Iterable[Event]) -> list[Event]:
    """Calls that differ in their rows only become one event: a rollout is a thousand calls of one network.

    The arrays are put one after the other, and `orders`, `updates` and `at` (env calls) say for each row when it was.
    """
    groups: dict[str, list[Event]] = {}
    for each in events:
        if each.kind in _MERGED and each.arrays:
            shapes = [(name, array.shape[1:], len(array)) for name, array in sorted(each.arrays.items())]
            key = json.dumps([each.kind, each.detail, shapes], default=str, sort_keys=True)
        else:
            key = str(each.order)
        groups.setdefault(key, []).append(each)
    found: list[Event] = []
    for group in groups.values():
        first = group[0]
        if first.kind not in _MERGED or not first.arrays:
            found.append(first)
            continue
        rows = max(len(array) for array in first.arrays.values())
        arrays = {name: np.concatenate([each.arrays[name] for each in group]) for name in first.arrays}
        arrays["orders"] = np.repeat([each.order for each in group], rows)
        arrays["updates"] = np.repeat([each.update for each in group], rows)
        arrays["at"] = np.repeat([each.call for each in group], rows)
        detail = {**first.detail, "calls": len(group)}
        found.append(Event(first.order, first.kind, first.update, first.call, detail, arrays))
    return sorted(found, key=lambda each: each.order)
