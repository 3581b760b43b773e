"""What happened to objects whose step returns no observation, told to the log as it would be of an environment.

A step is told when the observation that it led to is shown. Where an episode ended, that may be its last one, or the
first of the next: it is the next one's if the object was set back in between, or is stepped on from there.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any
from weakref import WeakSet, ref

import numpy as np

from rldebug.capture.env_results import host, is_flag, is_reward
from rldebug.capture.place import is_users, shown
from rldebug.capture.worlds import fields_of

_PART = 0.5  # share of steps after which something is called that belongs to the step, then
_FLAGS = (1, 2)


@dataclass(slots=True)
class Outcome:
    """What a step has returned, copied."""

    reward: Any
    flags: tuple[Any, ...]
    lanes: int

    @property
    def done(self) -> Any:
        if self.lanes == 1 and len(self.flags) == 1:
            return bool(self.flags[0])
        over = np.asarray(self.flags[0], dtype=bool)
        for each in self.flags[1:]:
            over = over | np.asarray(each, dtype=bool)
        return over.reshape(-1) if self.lanes > 1 else bool(over.any())


def outcome(result: Any) -> Outcome | None:
    """A number and one or two flags, in any order, and perhaps a dictionary: a step without an observation."""
    if type(result) is tuple and len(result) == 2 and type(result[1]) is bool and type(result[0]) in (float, int):
        return Outcome(result[0], result[1:], 1)  # nearly all
    fields = fields_of(result)
    if fields is not None and type(result) is not tuple:
        parts = list(fields.values())
    elif type(result) in (tuple, list) and 2 <= len(result) <= 4:
        parts = list(result)
    else:
        return None
    parts = [each for each in parts if not isinstance(each, dict) and each is not None]
    flags = [each for each in parts if is_flag(each)]
    rewards = [each for each in parts if not is_flag(each) and is_reward(each)]
    if len(flags) not in _FLAGS or len(rewards) != 1 or len(flags) + 1 != len(parts):
        return None
    reward, *ends = (host(each) for each in (rewards[0], *flags))
    if reward is None or any(each is None for each in ends):
        return None  # on a device: to look would wait
    sizes = {np.size(each) for each in (reward, *ends)}
    if len(sizes) != 1 or any(np.ndim(each) > 1 for each in (reward, *ends)):
        return None
    lanes = sizes.pop()
    return Outcome(np.array(reward, dtype=np.float64), tuple(np.array(each) for each in ends), lanes)


class Played:
    """Stands in the log for one object, or for several of which each begins when the one before is gone."""

    def __init__(self, env: Any, created: Any) -> None:
        self.ref, self.created = ref(env), created
        self.placed: Played | None = None  # in the log: itself, or one whose object is gone
        self.fresh = False  # another object stands there now, of which nothing was seen yet
        self.lanes = 0
        self.told = False
        self.facts: dict[str, Any] = {}
        self.pending: tuple[Any, Outcome] | None = None
        self.last: Any = None  # the observation that it goes on from, or that it began with
        self.done: Any = False
        self.touched = False
        self.axis = False  # one alone comes as a batch of one


class Story:
    def __init__(self, log: Any, known: Any, kind: str, name: str, cls: type) -> None:
        self.log, self.known, self.kind, self.name = log, known, kind, name
        self.defined = _defined(cls)
        self.batches: bool | None = None  # whether an object plays several
        self.renews: bool | None = None  # whether an object begins anew by itself; None: not known yet
        self.shown_after: set[Any] = set()  # what is shown just after a step
        self.steps = 0
        self.touches: dict[str, int] = {}  # after steps that ended nothing
        self.all: WeakSet[Played] = WeakSet()

    def tell(self, played: Played, what: str, *told: Any) -> None:
        if played.placed is None:
            if what == "touch":
                return  # nothing has begun yet
            lanes = told[1].lanes if what == "step" else self.lanes_in(told[1])
            if not lanes:
                played.last = told[1]  # how many it plays only a step can show
                return
            self.place(played, lanes)
        played = played.placed or played
        if what == "step":
            self.stepped(played, *told)
        elif what == "look":
            self.looked(played, *told)
        else:
            self.touched(played, *told)

    def lanes_in(self, obs: Any) -> int:
        """Of an observation: as many as another of the class had, if they were several."""
        if self.batches is None:
            return 0
        return len(obs) if self.batches and np.ndim(obs) else 1

    def place(self, played: Played, lanes: int) -> None:
        """Its own, or that of one that was made in the same place and is gone: an object for every episode."""
        self.batches = lanes > 1 if self.batches is None else self.batches
        for each in self.all:
            if each.ref() is None and each.lanes == lanes and each.created == played.created:
                if each.pending is not None:
                    self.fill(each, None)
                if each.done is True:
                    self.set_renews(each, False)
                each.ref, each.fresh, each.touched = played.ref, True, True
                played.placed = each
                if played.last is not None:
                    self.looked(each, None, played.last, True)
                return
        played.lanes, played.placed = lanes, played
        self.all.add(played)
        if played.last is not None:
            self.begin(played, played.last)

    # ── what happens ────────────────────────────────────────────────────────────────────────────────────────────────

    def stepped(self, played: Played, action: Any, step: Outcome) -> None:
        if played.pending is not None:
            self.fill(played, None)  # nobody looked
        elif played.lanes == 1 and played.done and not played.touched:
            self.goes_on(played)
        if played.lanes != step.lanes:
            return
        self.steps += 1
        played.axis = bool(np.ndim(step.flags[0]))
        played.pending, played.done, played.touched = (action, step), step.done, False

    def looked(self, played: Played, what: Any, obs: Any, changing: bool) -> None:
        if played.pending is None:
            self.looked_again(played, what, obs)
            return
        single = played.lanes == 1
        # Shown by what else is called where it begins anew: `state = world.restart()`.
        elsewhere = bool(self.shown_after) and what not in self.shown_after and (played.done is True or changing)
        if single and (played.touched or elsewhere):
            if played.done:
                self.set_renews(played, False)
            self.fill(played, None)
            self.begin(played, obs)
            return
        if single and played.done and self.renews is None:
            played.facts["resets_itself"] = True  # until it is known; then no row says where it ended
        self.shown_after.add(what)
        self.fill(played, obs)

    def looked_again(self, played: Played, what: Any, obs: Any) -> None:
        if played.last is None or played.fresh:
            self.begin(played, obs)
            return
        if np.shape(obs) != np.shape(played.last) or _alike(obs, played.last):
            return
        again = played.touched or what not in self.shown_after
        if played.lanes == 1:
            if played.done or again:
                if played.done:
                    self.set_renews(played, False)
                self.begin(played, obs)
            return
        # Lanes that somebody has set back; else it is shown with noise, or from another side.
        new = np.any((np.asarray(obs) != np.asarray(played.last)).reshape(played.lanes, -1), axis=1)
        over = np.asarray(played.done)
        if again and (new.all() or not (new & ~over).any()):
            if not new.all():
                self.set_renews(played, False)
            self.begin(played, obs, new)

    def touched(self, played: Played, name: str) -> None:
        """Something of it was called that changes it."""
        if played.pending is not None and not np.any(played.done):
            self.touches[name] = self.touches.get(name, 0) + 1
            if self.touches[name] > _PART * self.steps:
                return  # it is a part of the step
        played.touched = True

    def goes_on(self, played: Played) -> None:
        """Stepped though its episode was over: it has begun anew by itself."""
        self.set_renews(played, True)
        played.done = False
        stream = self.known.stream_of(played) if hasattr(self.known, "stream_of") else None
        if stream is not None:
            stream.over = [False] * len(stream.over)

    def set_renews(self, played: Played, by_itself: bool) -> None:
        if self.renews is by_itself:
            return
        self.renews = by_itself
        if hasattr(self.known, "flush"):
            self.known.flush()  # what was put aside is told as it was known then
        for each in self.all:
            if each.facts:
                each.facts["resets_itself"] = by_itself
            stream = self.known.stream_of(each) if each.told and hasattr(self.known, "stream_of") else None
            if stream is not None and each.lanes > 1:
                stream.autoreset = "same-step" if by_itself else "disabled"

    def learns(self) -> None:
        for each in list(self.all):
            if each.pending is not None and each.lanes == 1 and each.done:
                self.fill(each, None)

    # ── to the log ──────────────────────────────────────────────────────────────────────────────────────────────────

    def announce(self, played: Played) -> None:
        played.told = True
        itself = played.lanes > 1 and self.renews is not False
        played.facts.update(
            {
                "id": self.name,
                "class": self.name,
                "api": "2-tuple",
                "wrappers": [],
                "created": None if played.created is None else list(played.created),
                "defined": self.defined,
            }
        )
        if itself or self.renews:
            played.facts["resets_itself"] = True
        self.log.new(played, self.kind, played.lanes, "same-step" if itself else "disabled", played.facts)

    def begin(self, played: Played, obs: Any, mask: Any = None) -> None:
        played.last = np.array(obs) if not isinstance(obs, (int, float)) else obs
        played.done = False if played.lanes == 1 else np.zeros(played.lanes, dtype=bool)
        played.touched = played.fresh = False
        if not played.told:
            self.announce(played)
        if played.axis and np.ndim(obs) > 1 and len(obs) == 1:
            obs = obs[0]
        self.log.reset(played, obs, None, played.lanes, mask)

    def fill(self, played: Played, obs: Any) -> None:
        """The step that waits, with the observation that it led to; None where nobody looked."""
        assert played.pending is not None
        (action, step), played.pending = played.pending, None
        if not played.told:
            self.announce(played)
        ends, cuts = step.flags[0], step.flags[1] if len(step.flags) == 2 else None
        reward: Any = step.reward
        if step.lanes == 1:
            reward, ends, cuts = float(reward), bool(ends), bool(cuts)
            shown = obs[0] if played.axis and np.ndim(obs) > 1 and len(obs) == 1 else obs
        else:
            ends, reward = ends.reshape(-1), reward.reshape(-1)
            cuts = np.zeros_like(ends) if cuts is None else cuts.reshape(-1)
            fits = np.ndim(obs) > 0 and len(obs) == step.lanes
            shown = obs if fits else [None] * step.lanes
        played.last = None if obs is None else np.array(obs) if not isinstance(obs, (int, float)) else obs
        played.touched = False
        self.log.step(played, action, shown, reward, ends, cuts, None)


def _alike(one: Any, other: Any) -> bool:
    arrays = isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and one.dtype == other.dtype
    if arrays and one.tobytes() == other.tobytes():
        return True  # ten times as quick as to compare them
    return np.array_equal(one, other)


def _defined(cls: type) -> list[Any] | None:
    codes = (getattr(inspect.unwrap(each), "__code__", None) for each in vars(cls).values() if callable(each))
    code = next((each for each in codes if each is not None and is_users(each.co_filename)), None)
    return None if code is None else [shown(code.co_filename), code.co_firstlineno]
