"""Environments of no library: a class of the program's own that has `reset` and `step`, or does what they do, and is
used like one.

Many classes have a `step` and a `reset`: schedules, agents, trainers. So an object is an environment only once its step
has returned what a step returns. Until then its calls are kept back, and those of environments within them; then either
it is told as the outermost, or they are told and its class is left alone for good. Where the two methods have other
names, an episode must have begun with an observation like that of the step, and nothing within may be one.
"""

from __future__ import annotations

import inspect
import math
from collections import Counter
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any
from weakref import WeakKeyDictionary, WeakSet, ref

import numpy as np
from torch import nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from rldebug.capture.apart import Apart
from rldebug.capture.apart_methods import returns_pairs
from rldebug.capture.apart_story import outcome
from rldebug.capture.classes import when_defined
from rldebug.capture.env_calls import GROUP, Shared, cover_class, shared_by
from rldebug.capture.env_facts import lying_in
from rldebug.capture.env_results import Step, copied, host, number, reset_obs, understand
from rldebug.capture.env_watch import Known, Watch
from rldebug.capture.other_names import other_names
from rldebug.capture.place import is_users
from rldebug.capture.switch import Switchboard

_HELD = 64  # calls of one environment within one call; more, and it is a trainer
_BEGUN = 8  # times that one whose methods have other names may begin before it is stepped
_ABREAST = 512  # times that all of its class may: many environments begin before the first is stepped
_REQUIRED = 2  # arguments a step may insist on; an agent that is told a transition takes five
_FLAG = frozenset({bool, np.bool_})
_NOT = (nn.Module, Optimizer, LRScheduler)


class Held:
    """Calls of environments within the first reset and step of an object that may be one."""

    def __init__(self, watch: HandRolled, cls: type) -> None:
        self.watch, self.cls = watch, cls
        self.calls: list[tuple[Callable[..., None], Any, Any]] = []
        self.counts: Counter[int] = Counter()

    def hold(self, look: Callable[..., None], env: Any, args: tuple[Any, ...]) -> None:
        self.calls.append((look, ref(env), copied(args)))
        self.counts[id(env)] += 1
        if self.counts[id(env)] > (0 if self.cls in self.watch.renamed else _HELD):
            self.watch.here.held = None
            self.watch.reject(self.cls)
            self.let_go()

    def let_go(self) -> None:
        calls, self.calls = self.calls, []
        for look, env, args in calls:
            if (alive := env()) is not None:
                look(alive, *args)


class Waiting:
    """The reset of an object that has not been stepped yet: how many lanes it has is not known before."""

    def __init__(self, env: Any, held: Held, result: Any, asked: Any) -> None:
        self.ref, self.held, self.asked = ref(env), held, asked or (None, None)
        self.obs = copied(host(reset_obs(result)))

    def let_go(self) -> None:
        self.held.let_go()


class HandRolled(Watch):
    kind = "hand-rolled"

    def __init__(self, shared: Shared) -> None:
        super().__init__(shared)
        self.verdicts: WeakKeyDictionary[type, bool] = WeakKeyDictionary()
        self.renamed: WeakSet[type] = WeakSet()  # classes whose methods have other names
        self.in_front: WeakSet[type] = WeakSet()  # classes that begin with an observation and something after it
        self.begun: Counter[str] = Counter()  # times that such a class began, and was never stepped
        self.again: Counter[int] = Counter()  # times that one of them did, by id
        self.lanes = 1  # of the one that is being met
        self.apart = Apart(shared)  # who looks at classes that are none of these
        # One flag may say that an episode is over, or that it goes on; what the program does next tells.
        self.over_at_once: set[int] = set()  # ids of those whose first step was flagged
        self.over: WeakSet[type] = WeakSet()  # classes that were begun anew then
        self.goes_on_flag: WeakSet[type] = WeakSet()  # classes that were stepped again

    # ── the calls ───────────────────────────────────────────────────────────────────────────────────────────────────

    def step(self, original: Callable[..., Any], env: Any, args: Any, kwargs: Any) -> Any:
        verdict = self.verdict(type(env))
        if verdict:
            return super().step(original, env, args, kwargs)
        if verdict is False or self.held_within(env) or GROUP in self.off:
            return original(env, *args, **kwargs)
        waiting = self.shared.waiting.get(id(env))
        held = waiting.held if waiting is not None and waiting.ref() is env else Held(self, type(env))
        action = self.action_of(args, kwargs)
        result = self.call_held(original, env, args, kwargs, held)
        self.switch.guard(GROUP, self.judge, env, action, result, held)
        return result

    def reset(self, original: Callable[..., Any], env: Any, args: Any, kwargs: Any) -> Any:
        verdict = self.verdict(type(env))
        if verdict:
            return super().reset(original, env, args, kwargs)
        if verdict is False or self.held_within(env) or GROUP in self.off:
            return original(env, *args, **kwargs)
        asked = self.switch.guard(GROUP, self.asked_of, original, env, args, kwargs)
        held = Held(self, type(env))
        if id(env) in self.over_at_once:
            self.over_at_once.discard(id(env))
            self.over.add(type(env))
        result = self.call_held(original, env, args, kwargs, held)
        if type(env) in self.renamed and not self.begins(env, result):
            return result
        self.switch.guard(GROUP, self.keep, env, held, result, asked)
        return result

    def held_within(self, env: Any) -> bool:
        """Within a call that may be of an environment; one with other names has none within but itself."""
        held = self.here.held
        if held is not None and held.cls in self.renamed and held.cls is not type(env):
            self.here.held = None
            self.reject(held.cls)
            held.let_go()
        return self.here.held is not None

    def call_held(self, original: Callable[..., Any], env: Any, args: Any, kwargs: Any, held: Held) -> Any:
        here = self.here
        self.shared.steady.ref = None
        here.held = held
        self.shared.holding += 1
        try:
            return original(env, *args, **kwargs)
        finally:
            self.shared.holding -= 1
            here.held = None

    def quick_step(self, original: Callable[..., Any], env: Any, action: Any) -> Any:
        if self.verdicts.get(type(env)) and type(env) not in self.goes_on_flag:
            return super().quick_step(original, env, action)
        return self.step(original, env, (action,), {})

    # ── whether it is one ───────────────────────────────────────────────────────────────────────────────────────────

    def verdict(self, cls: type) -> bool | None:
        found = self.verdicts.get(cls)
        if found is None and not cls.__weakrefoffset__:  # with slots: no way to know it again
            found = self.verdicts[cls] = False
        return found

    def judge(self, env: Any, action: Any, result: Any, held: Held) -> None:
        cls = type(env)
        if cls in self.verdicts:
            return  # too many calls within, or another of the class was quicker
        step = understand(result)
        if step is None or (cls in self.renamed and not self.goes_on(env, step)):
            self.reject(cls)
            held.let_go()
            if outcome(result) is not None and not issubclass(cls, _NOT):
                self.apart.consider(cls)
            return
        if self.in_doubt(env, step, result):
            return
        self.verdicts[cls] = True
        self.saw_step(env, action, result)

    def in_doubt(self, env: Any, step: Step, result: Any) -> bool:
        """Flagged by its first step: over, or going on? Until that is known the episode begins a step later."""
        cls = type(env)
        if not _one_flag(result) or step.lanes != 1 or not step.terminated or cls in self.over | self.goes_on_flag:
            return False
        if id(env) in self.over_at_once:
            self.over_at_once.discard(id(env))  # another object may get this id
            self.goes_on_flag.add(cls)
            return False
        waiting = self.shared.waiting.get(id(env))
        if waiting is None or waiting.ref() is not env:
            return False
        self.over_at_once.add(id(env))
        waiting.obs = copied(host(step.obs))
        return True

    def goes_on(self, env: Any, step: Step) -> bool:
        """A number for the reward, and an observation like the one that the episode began with."""
        waiting = self.shared.waiting.get(id(env))
        if waiting is None or waiting.ref() is not env or step.lanes != 1 or not math.isfinite(number(step.reward)):
            return False
        begun = waiting.obs[0] if _in_front(waiting.obs, step.obs) else waiting.obs
        return _shape(step.obs) not in ((), None) and _shape(step.obs) == _shape(begun)

    def begins(self, env: Any, result: Any) -> bool:
        """Whether it may go on with a step: it gave an observation, and others of its class were not left at that."""
        cls = type(env)
        self.begun[cls.__qualname__] += 1
        self.again[id(env)] += 1
        often = self.again[id(env)] > _BEGUN or self.begun[cls.__qualname__] > _ABREAST
        if cls not in self.verdicts and (result is None or often):
            self.again.clear()
            self.reject(cls)
        return self.verdicts.get(cls) is not False

    def reject(self, cls: type) -> None:
        self.verdicts[cls] = False
        if type.__subclasses__(cls):
            return  # they may be environments, and have the methods from here
        for name, method in list(vars(cls).items()):
            if isinstance(method, FunctionType) and method in self.shared.stand_ins:
                setattr(cls, name, inspect.unwrap(method, stop=lambda each: each not in self.shared.stand_ins))

    def keep(self, env: Any, held: Held, result: Any, asked: Any) -> None:
        waiting = self.shared.waiting
        for key in [key for key, each in waiting.items() if each.ref() is None or each.ref() is env]:
            waiting.pop(key).let_go()
        if result is None or type(env) in self.verdicts:
            held.let_go()
        if type(env) not in self.verdicts or self.verdicts[type(env)]:
            waiting[id(env)] = Waiting(env, held, result, asked)

    # ── what is seen ────────────────────────────────────────────────────────────────────────────────────────────────

    def lanes_of(self, env: Any) -> tuple[int, bool]:
        return self.lanes, False

    def autoreset(self, env: Any) -> str:
        # Nobody outside resets one lane of many.
        return "disabled" if self.lanes == 1 else "same-step"

    def saw_reset(self, env: Any, result: Any, seed: Any, mask: Any) -> None:
        if (known := self.known.get(id(env))) is not None and known.ref() is env:
            super().saw_reset(env, self.observation(env, result), seed, mask)
        else:
            self.keep(env, Held(self, type(env)), result, (seed, mask))

    def saw_step(self, env: Any, action: Any, result: Any) -> None:
        if type(env) in self.goes_on_flag and _one_flag(result):
            result = (*result[:2], not result[2], *result[3:])
        known = self.known.get(id(env))
        if known is None or known.ref() is not env:
            known = self.begin(env, result)
        if known is not None:
            super().saw_step(env, action, result)

    def begin(self, env: Any, result: Any) -> Known | None:
        """Tell of the environment, and of the reset that was kept back."""
        step = understand(result)
        if step is None:
            return None
        self.lanes = step.lanes
        known = self.meet(env)
        known.facts["api"] = step.api
        waiting = self.shared.waiting.pop(id(env), None)
        if waiting is not None and waiting.ref() is env:
            if _in_front(waiting.obs, step.obs):
                self.in_front.add(type(env))
            super().saw_reset(env, self.observation(env, waiting.obs), *waiting.asked)
        return known

    def observation(self, env: Any, result: Any) -> Any:
        """Of what `reset` returns, a goal after it left out."""
        several = type(env) in self.in_front and type(result) in (tuple, list) and len(result)
        return result[0] if several else result


def _one_flag(result: Any) -> bool:
    """`(obs, reward, flag)`, perhaps with something after it that is no second flag."""
    flags = [type(each) in _FLAG for each in result] if type(result) is tuple and 3 <= len(result) <= 4 else []
    return flags[2:3] == [True] and flags.count(True) == 1


def _in_front(begun: Any, obs: Any) -> bool:
    """Whether an episode begins with several things, of which the first alone is what steps go on with."""
    if type(begun) not in (tuple, list) or not 1 < len(begun) <= 4:
        return False
    shape = _shape(obs) if isinstance(obs, (np.ndarray, list)) else None
    return bool(shape) and isinstance(begun[0], type(obs)) and _shape(begun[0]) == shape


def _shape(value: Any) -> tuple[int, ...] | None:
    """None of what is no array, and of lists of different lengths."""
    try:
        return tuple(map(int, np.shape(value)))
    except ValueError:
        return None


# ── finding the classes ─────────────────────────────────────────────────────────────────────────────────────────────


def install(switch: Switchboard, log: Any) -> None:
    watch = HandRolled(shared_by(switch, log))
    when_defined(switch, GROUP, lambda cls: consider(watch, cls))


def consider(watch: HandRolled, cls: type) -> None:
    names = watch.methods
    if not is_candidate(watch.shared, cls):
        names = renamed(watch.shared, cls)
        if not names:
            if _may_be_one(watch.shared, cls):
                watch.apart.consider(cls)
            return
        watch.renamed.add(cls)
    elif returns_pairs(lying_in(cls, "step")):
        watch.apart.consider(cls)
        return
    for base in cls.__mro__:
        for name, told in names.items():
            if (code := _code(vars(base).get(name))) is not None and is_users(code.co_filename):
                watch.wrap_method(base, name, told)


def is_candidate(shared: Shared, cls: type) -> bool:
    step, reset = _code(lying_in(cls, "step")), _code(lying_in(cls, "reset"))
    if step is None or reset is None or not (is_users(step.co_filename) or is_users(reset.co_filename)):
        return False
    if not _may_be_one(shared, cls):
        return False
    taken = step.co_argcount - 1
    required = taken - len(inspect.unwrap(lying_in(cls, "step")).__defaults__ or ())
    some = taken >= 1 or bool(step.co_flags & inspect.CO_VARARGS)
    return some and required <= _REQUIRED


def renamed(shared: Shared, cls: type) -> dict[str, str]:
    """The methods that begin and step it, where they have other names."""
    if lying_in(cls, "step") is not None and lying_in(cls, "reset") is not None:
        return {}
    found = other_names(cls, is_users)
    return found if found and _may_be_one(shared, cls) else {}


def _may_be_one(shared: Shared, cls: type) -> bool:
    if issubclass(cls, _NOT) or hasattr(cls, "zero_grad") or not cls.__weakrefoffset__:
        return False
    return not cover_class(shared, cls)  # of a library, though its base keeps its subclasses to itself


def _code(method: Any) -> CodeType | None:
    """Of a plain function; through decorators that say what they decorate."""
    if not isinstance(method, FunctionType):
        return None
    inner = inspect.unwrap(method)
    code = getattr(inner, "__code__", None)
    lazy = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
    return code if isinstance(code, CodeType) and not code.co_flags & lazy else None
