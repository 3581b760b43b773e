"""Worlds that are no objects: functions on a state, closures, generators, immutable positions, methods of the learner.

The text says where a program may go round with one (marks.py); here is seen whether it does. What is called must have
returned what a step returns, with no network asked and no environment stepped within, and a network must be asked
between two steps. Until then all is kept back; then it is told as if it had been all along. Where it is not clear how
an episode begins or what a flag means, nothing is told.
"""

from __future__ import annotations

import dataclasses
import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch.nn.modules.module import register_module_forward_pre_hook

from rldebug.capture.env_calls import GROUP, shared_by
from rldebug.capture.env_results import Step, copied, host, is_flag, is_reward, understand
from rldebug.capture.marks import mark
from rldebug.capture.switch import Switchboard
from rldebug.syntax.worlds import Place

_KIND = "function"
_HELD, _HELD_BYTES = 4096, 1 << 26  # calls of one that are kept back
_UNASKED = 200_000  # steps without a network, and it is left alone
_DEEP = 4  # levels of a state
_NUMBERS = (int, float, np.integer, np.floating)


@dataclasses.dataclass(frozen=True)
class Roles:
    """Which of the results is what."""

    obs: Any  # a place, or the names of fields
    reward: Any
    flags: tuple[Any, ...]


class World:
    """Stands for one in the log; and what is known of it."""

    def __init__(self, number: int, place: Place) -> None:
        self.number, self.place = number, place
        self.roles: Roles | None = None
        self.lanes = 1
        self.begun = False  # told to the log
        self.held: deque[tuple[Any, ...]] = deque(maxlen=_HELD)
        self.pending: dict[tuple[tuple[int, ...], int], Any] = {}  # how it began, before the first step
        self.steps = 0
        self.shape: tuple[int, ...] | None = None
        self.last: Any = None  # the observation that the program goes on from
        self.state: Any = None  # the object that a step has returned as its state
        self.over: Any = False  # an episode has ended, and nobody has begun anew; of each lane
        self.doubt = False  # the first step was flagged: over, or going on?
        self.thread = threading.get_ident()


class Worlds:
    def __init__(self, switch: Switchboard, log: Any) -> None:
        self.switch, self.log, self.shared = switch, log, shared_by(switch, log)
        self.here, self.off = self.shared.here, switch.off
        self.known = getattr(log, "log", None) or log  # behind that of a profile
        self.left_alone: set[int] = set()
        self.worlds: dict[int, World] = {}
        self.under_way: World | None = None  # its step is being called
        self.handle: Any = None  # of the hook that says when a network is asked

    # ── the calls ───────────────────────────────────────────────────────────────────────────────────────────────────

    def step(self, number: int, callee: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        if GROUP in self.off or self.here.inside or self.shared.holding or self.under_way is not None:
            return callee(*args, **kwargs)
        world = self.switch.guard(GROUP, self.world, number)
        if world is None:
            return callee(*args, **kwargs)
        given = self.switch.guard(GROUP, self.before, world, callee, args, kwargs)
        calls, self.under_way = self.calls, world
        try:
            result = callee(*args, **kwargs)
        finally:
            self.under_way = None
        if given is not None and number not in self.left_alone:
            self.switch.guard(GROUP, self.after, world, given[0], result, calls)
        return result

    def afresh(self, number: int, which: tuple[int, ...], place: int, value: Any) -> None:
        if GROUP not in self.off and self.under_way is None:
            self.switch.guard(GROUP, self.saw_beginning, number, which, place, value)

    def mixed(self, number: int, which: tuple[int, ...], value: Any) -> None:
        if GROUP not in self.off and self.under_way is None:
            self.switch.guard(GROUP, self.saw_mixed, number, which, value)

    def entered(self, number: int, which: tuple[int, ...], value: Any) -> None:
        if GROUP not in self.off and self.under_way is None:
            self.switch.guard(GROUP, self.saw_entered, number, which, value)

    # ── whether it is one ───────────────────────────────────────────────────────────────────────────────────────────

    @property
    def calls(self) -> int:
        return int(getattr(self.known, "calls", 0))

    def world(self, number: int) -> World | None:
        found = self.worlds.get(number)
        if found is None:
            found = self.worlds[number] = World(number, mark.places[number])
        if number in self.left_alone:
            return None
        # Where there are environments, what looks like one is a model of it.
        beside = not found.begun and any(each.kind != _KIND for each in getattr(self.known, "streams", ()))
        if beside or found.thread != threading.get_ident():
            self.leave(found)
            return None
        return found

    def leave(self, world: World) -> None:
        self.left_alone.add(world.number)
        world.held.clear()
        world.pending.clear()
        if all(each.begun or number in self.left_alone for number, each in self.worlds.items()):
            self.unhook()

    def hook(self) -> None:
        if self.handle is None:
            self.handle = register_module_forward_pre_hook(self.asked)

    def unhook(self) -> None:
        if self.handle is not None:
            self.handle.remove()
            self.handle = None

    def asked(self, module: Any, args: Any) -> None:
        """Before a network is called."""
        self.switch.guard(GROUP, self.saw_asking)

    def saw_asking(self) -> None:
        if self.under_way is not None:
            self.leave(self.under_way)  # a learned model, a solver, a text that is written on
            return
        for world in list(self.worlds.values()):
            ready = world.steps and not world.doubt and not world.begun
            if ready and world.number not in self.left_alone:
                self.begin(world)

    def begin(self, world: World) -> None:
        """Tell of it, and of all that was kept back."""
        world.begun = True
        place = world.place
        facts: dict[str, Any] = {"id": place.name, "api": "function", "wrappers": []}
        if not place.renewed or (world.lanes > 1 and not (place.mixed or place.written)):
            facts["resets_itself"] = True
        autoreset = "same-step" if world.lanes > 1 and not (place.mixed or place.written) else "disabled"
        self.log.new(world, _KIND, world.lanes, autoreset, facts)
        held = list(world.held)
        world.held.clear()
        for told in held:
            self.tell(world, *told)
        if all(each.begun or number in self.left_alone for number, each in self.worlds.items()):
            self.unhook()

    def tell(self, world: World, what: str, *told: Any) -> None:
        if not world.begun:
            world.held.append((what, *(copied(each) for each in told)))
        elif what == "reset":
            obs, mask = told
            self.log.reset(world, obs, None, world.lanes, mask)
        elif what == "unseen":
            stream = self.known.stream_of(world) if hasattr(self.known, "stream_of") else None
            if stream is not None:
                stream.facts["resets_itself"] = True
                stream.over = [False] * len(stream.over)
        else:
            self.log.step(world, *told)

    # ── what is seen ────────────────────────────────────────────────────────────────────────────────────────────────

    def before(self, world: World, callee: Any, args: Any, kwargs: Any) -> tuple[Any] | None:
        """The action, as it is before the call; None where the program goes on in a way that nobody has seen."""
        place = world.place
        action = args[place.action] if isinstance(place.action, int) else kwargs.get(place.action)
        if not world.begun:
            self.hook()
        if world.doubt:
            self.leave(world)  # flagged at first, and it goes on all the same
            return None
        if world.roles is not None and place.state is not None and world.state is not None:
            state = getattr(callee, "__self__", None) if place.state == "" else None
            if isinstance(place.state, int):
                state = args[place.state]
            elif place.state:
                state = kwargs.get(place.state)
            if state is not None and not self.is_current(world, state) and not self.begins_unseen(world, state):
                self.leave(world)
                return None
        if world.steps and world.lanes == 1 and world.over:
            self.tell(world, "unseen")  # it begins anew by itself
            world.over = False
        return (copied(action if isinstance(action, (np.ndarray, torch.Tensor)) else _plain_action(action)),)

    def is_current(self, world: World, state: Any) -> bool:
        if state is world.state:
            return True
        seen = observed(state)
        known = observed(world.state)
        return (
            seen is not None and known is not None and np.shape(seen) == np.shape(known) and np.array_equal(seen, known)
        )

    def begins_unseen(self, world: World, state: Any) -> bool:
        """It goes on from somewhere else. That can be told where the state is what is observed."""
        which = (0,) if not world.place.count else world.place.states
        obs = self.beginning(world, which, -1, state)
        if obs is None:
            return False
        world.over, world.last = False, obs
        self.tell(world, "reset", obs, None)
        return True

    def after(self, world: World, action: Any, result: Any, calls: int) -> None:
        if self.calls != calls:
            self.leave(world)  # an environment was stepped within
            return
        if world.roles is None:
            world.roles = roles_in(result, world.place)
        step = None if world.roles is None else read(result, world.roles)
        unlike = step is None or (world.steps and step.lanes != world.lanes) or _learned(result)
        if unlike or step is None or (world.steps > _UNASKED and not world.begun):
            self.leave(world)
            return
        if not world.steps:
            world.lanes, world.shape = step.lanes, np.shape(step.obs)
            size = max(np.asarray(step.obs).nbytes, 1)
            world.held = deque(world.held, maxlen=max(min(_HELD, _HELD_BYTES // size), 2))
            self.begin_first(world)
        elif np.shape(step.obs) != world.shape:
            self.leave(world)
            return
        world.steps += 1
        done = np.asarray(step.terminated) | np.asarray(step.truncated)
        world.over, world.last = (done if step.lanes > 1 else bool(done)), step.obs
        assert world.roles is not None
        world.state = self.state_in(world, result)
        world.doubt = world.steps == 1 and step.lanes == 1 and bool(done) and len(world.roles.flags) == 1
        self.tell(world, "step", action, step.obs, step.reward, step.terminated, step.truncated, None)

    def begin_first(self, world: World) -> None:
        """With the first step it is known which result is the observation: so began the episode."""
        for (which, place), value in world.pending.items():
            obs = self.beginning(world, which, place, value)
            if obs is not None:
                self.tell(world, "reset", obs, None)
        world.pending.clear()

    def state_in(self, world: World, result: Any) -> Any:
        place = world.place
        if not place.count:
            return result
        arrays = [each for each in place.states if world.roles is not None and each not in world.roles.flags]
        return result[arrays[0]] if len(arrays) == 1 and isinstance(result, tuple) else None

    def beginning(self, world: World, which: tuple[int, ...], place: int, value: Any) -> Any:
        """The observation in what an episode begins with; None where it is another thing."""
        if place >= 0:
            try:
                value = value[place]
            except (TypeError, IndexError, KeyError):
                return None
        self.take_state(world, which, value)
        assert world.roles is not None
        if world.place.count and world.roles.obs not in which:
            return None
        obs = observed(value) if world.place.count else observed(value, world.roles.obs)
        return obs if obs is not None and np.shape(obs) == world.shape else None

    def take_state(self, world: World, which: tuple[int, ...], value: Any) -> None:
        if not world.place.count or set(which) & set(world.place.states):
            world.state = value

    def saw_beginning(self, number: int, which: tuple[int, ...], place: int, value: Any) -> None:
        world = self.world(number)
        if world is None:
            return
        if world.roles is None:
            world.pending[which, place] = value if place < 0 else tuple(value) if isinstance(value, list) else value
            return
        obs = self.beginning(world, which, place, value)
        if obs is not None:
            world.doubt, world.over, world.last = False, False, obs
            self.tell(world, "reset", obs, None)

    def saw_mixed(self, number: int, which: tuple[int, ...], value: Any) -> None:
        """Beginnings among observations that go on: of the lanes that were over."""
        world = self.world(number)
        if world is None:
            return
        if world.roles is None:
            world.pending[which, -1] = value
            return
        before = world.state
        obs = self.beginning(world, which, -1, value)
        if obs is None or world.last is None:
            return
        if world.lanes == 1:
            if world.over and not np.array_equal(obs, world.last):
                world.doubt, world.over, world.last = False, False, obs
                self.tell(world, "reset", obs, None)
            return
        new = np.any((np.asarray(obs) != np.asarray(world.last)).reshape(world.lanes, -1), axis=1)
        if not new.any():
            return
        if (new & ~np.asarray(world.over)).any() and not new.all():
            world.state = before
            return  # all are changed a little: normalised, or moved
        mask = new if not new.all() else np.ones(world.lanes, dtype=bool)
        world.over, world.last = np.asarray(world.over) & ~mask, obs
        self.tell(world, "reset", obs, mask)

    def saw_entered(self, number: int, which: tuple[int, ...], value: Any) -> None:
        """An argument of the function that goes round: it goes on from there, or begins there."""
        world = self.world(number)
        if world is None:
            return
        if world.roles is None:
            world.pending[which, -1] = value
            return
        if world.state is not None and value is world.state:
            return
        obs = self.beginning(world, which, -1, value)
        if obs is not None and not np.array_equal(obs, world.last):
            world.doubt, world.over, world.last = False, False, obs
            self.tell(world, "reset", obs, None)


def _plain_action(action: Any) -> Any:
    return action.item() if isinstance(action, (np.integer, np.floating)) else action


# ── results ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def roles_in(result: Any, place: Place) -> Roles | None:
    """By what the results are, and by which of them the action was chosen; None where that leaves a doubt."""
    return _among(result, place) if place.count else _of_object(result, place)


def _among(result: Any, place: Place) -> Roles | None:
    if not isinstance(result, (tuple, list)) or len(result) != place.count:
        return None
    flags = tuple(at for at, each in enumerate(result) if is_flag(each))
    if not 1 <= len(flags) <= 2:
        return None
    likely = [at for at in place.seen if at not in flags and observed(result[at]) is not None]
    arrays = [at for at in likely if np.ndim(observed(result[at])) > 0] or likely
    wide = [at for at in arrays if np.size(observed(result[at])) > 1] or arrays
    if not wide:
        return None
    obs = wide[0]
    numbers = [at for at, each in enumerate(result) if at not in (obs, *flags) and is_reward(each)]
    numbers = [at for at in numbers if at not in place.states] if len(numbers) > 1 else numbers
    if len(numbers) > 1:
        numbers = [at for at in numbers if _is_float(result[at])]
    return Roles(obs, numbers[0], flags) if len(numbers) == 1 else None


def _of_object(result: Any, place: Place) -> Roles | None:
    fields = fields_of(result)
    if fields is None:
        return None
    flags = tuple(name for name in place.tested if name in fields and is_flag(fields[name]))
    numbers = [name for name in place.read if name in fields and is_reward(fields[name])]
    if len(numbers) > 1:
        numbers = [name for name in numbers if _is_float(fields[name])]
    if not 1 <= len(flags) <= 2 or len(numbers) != 1:
        return None
    rest = tuple(name for name in fields if name not in (*flags, *numbers))
    return Roles(rest, numbers[0], flags) if observed(result, rest) is not None else None


def read(result: Any, roles: Roles) -> Step | None:
    fields = result if isinstance(roles.obs, int) else fields_of(result)
    try:
        obs = observed(result[roles.obs]) if isinstance(roles.obs, int) else observed(result, roles.obs)
        ends = [fields[each] for each in roles.flags]  # type: ignore[index]
        reward = fields[roles.reward]  # type: ignore[index]
    except (IndexError, KeyError, TypeError):
        return None
    if obs is None or not all(map(is_flag, ends)):
        return None
    return understand((obs, reward, *ends, {}) if len(ends) == 2 else (obs, reward, ends[0]))


def observed(value: Any, names: tuple[str, ...] | None = None) -> Any:
    """An observation: an array, a number, or the numbers that a state is made of."""
    if names is None:
        if isinstance(value, (np.ndarray, torch.Tensor)):
            array = host(value)
            return array if array is not None and array.dtype.kind in "fiub" else None
        if isinstance(value, _NUMBERS) and not isinstance(value, bool):
            return value
    parts = list(_leaves(value, names, _DEEP))
    if not parts or any(each is None for each in parts):
        return None
    arrays = [np.asarray(each, dtype=np.float32) for each in parts]
    counts = {len(each) if each.ndim else 0 for each in arrays}
    if len(counts) == 1 and arrays[0].ndim and len(arrays) > 1 and all(each.ndim > 1 for each in arrays[:1]):
        return np.concatenate([each.reshape(len(each), -1) for each in arrays], axis=1)
    return np.concatenate([each.ravel() for each in arrays])


def _leaves(value: Any, names: tuple[str, ...] | None, deep: int) -> Iterator[Any]:
    fields = fields_of(value)
    if isinstance(value, (np.ndarray, torch.Tensor)):
        array = host(value)
        if array is not None and array.dtype.kind in "fiub":
            yield array
    elif isinstance(value, (*_NUMBERS, np.bool_)):
        yield value
    elif fields is not None and deep:
        for name, each in fields.items():
            if names is None or name in names:
                yield from _leaves(each, None, deep - 1)
    elif isinstance(value, (tuple, list)) and deep:
        for each in value:
            yield from _leaves(each, None, deep - 1)


def fields_of(value: Any) -> dict[str, Any] | None:
    """Of a named tuple, a data class, a dictionary, an object of a class of the program's own."""
    if isinstance(value, dict):
        return {name: each for name, each in value.items() if isinstance(name, str)}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return dict(zip(value._fields, value, strict=True))
    if isinstance(value, (type, torch.nn.Module, torch.Tensor, np.ndarray)):
        return None
    if dataclasses.is_dataclass(value):
        names = [each.name for each in dataclasses.fields(value)]
        own = getattr(value, "__dict__", None)
        return {name: (own[name] if own is not None and name in own else getattr(value, name, None)) for name in names}
    slots = [name for base in type(value).__mro__ for name in _slots(base)]
    if slots:
        return {name: getattr(value, name, None) for name in slots if name != "__weakref__" and name != "__dict__"}
    own = getattr(value, "__dict__", None)
    return dict(own) if type(own) is dict else None


def _slots(base: type) -> tuple[str, ...]:
    slots = vars(base).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _is_float(value: Any) -> bool:
    dtype = getattr(value, "dtype", None)
    return isinstance(value, float) or (dtype is not None and ("float" in str(dtype)))


def _learned(result: Any) -> bool:
    """Whether gradients go through it: no world of which a loss knows nothing."""
    parts = result if isinstance(result, (tuple, list)) else (fields_of(result) or {}).values()
    return any(isinstance(each, torch.Tensor) and each.requires_grad for each in parts)


def install(switch: Switchboard, log: Any) -> None:
    watch = Worlds(switch, log)
    mark.compiling = getattr(getattr(torch, "compiler", None), "is_compiling", bool)
    mark.watch = watch
    switch.when_undone(mark.shut)
    switch.when_undone(watch.unhook)
