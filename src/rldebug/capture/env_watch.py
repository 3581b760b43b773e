"""Watch: what is seen of environments of one kind, and told to the log. Each outermost call is told once."""

from __future__ import annotations

import os
from collections.abc import Callable
from types import FunctionType
from typing import Any
from weakref import ref

import numpy as np

from rldebug.capture import nvtx
from rldebug.capture.env_calls import GROUP, Gate, Shared, cover_class, stand_in
from rldebug.capture.env_facts import autoreset_of, declares_autoreset, facts_of, innermost, seeded_by_chance, unwrapped
from rldebug.capture.env_results import batch, copied, finals, host, number, plain_batch, reset_obs, understand
from rldebug.capture.env_values import seed_of
from rldebug.capture.place import users_line
from rldebug.capture.resetting import stepping_frame

_MANY = 4096  # environments; a program may make one for every episode
_RESETS = 3  # that are looked at, of each environment
_SCALARS = (float, int, np.number)
_FLAGS = frozenset({bool, np.bool_, int})


class Known:
    """An environment object as the program calls it; the outermost of its wrappers."""

    __slots__ = (
        "agents", "facts", "inner", "lanes", "lives", "plain", "ref", "renewals", "sent", "stream", "unseeded",
        "vector",
    )  # fmt: skip

    def __init__(self, env: Any, inner: Any, lanes: int, vector: bool) -> None:
        self.ref, self.inner = ref(env), ref(inner)
        self.lanes, self.vector = lanes, vector
        self.plain = False  # a step has returned Gymnasium's five, for one environment
        self.facts: dict[str, Any] = {}
        self.sent: Any = None  # by step_async, and not yet waited for
        self.agents: list[Any] = []
        self.stream: Any = None  # of the log, once it was asked for
        self.lives = 0  # that were left when the last episode ended
        self.unseeded = 0  # resets without a seed, the first few
        self.renewals = 0  # resets, the first few


class Watch:
    """Of one kind of environment. `methods`: what is replaced, and by which method here it is told."""

    kind = ""
    methods: dict[str, str] = {"reset": "reset", "step": "step"}  # noqa: RUF012

    def __init__(self, shared: Shared) -> None:
        self.shared, self.switch, self.log, self.here = shared, shared.switch, shared.log, shared.here
        self.off = shared.switch.off
        self.known: dict[int, Known] = {}
        self.gate = Gate()
        self.gate.watch, self.gate.steady = self, shared.steady
        self.switch.when_undone(self.gate.shut)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.gate.shut)  # cheaper than asking at every step who we are

    # ── putting the stand-ins in place ──────────────────────────────────────────────────────────────────────────────

    def cover(self, base: type) -> None:
        """The class and all its subclasses, those to come too."""
        self.shared.watches.append((base, self))
        seen: set[type] = set()
        left = [base]
        while left:
            cls = left.pop()
            if cls not in seen:
                seen.add(cls)
                self.wrap(cls)
                left += type.__subclasses__(cls)
        self._announce_subclasses(base)

    def _announce_subclasses(self, base: Any) -> None:
        shared, own = self.shared, vars(base).get("__init_subclass__")

        def make(original: Any) -> Any:
            def __init_subclass__(cls: Any, /, **kwargs: Any) -> None:
                if own is not None:
                    own.__get__(None, cls)(**kwargs)
                else:
                    super(base, cls).__init_subclass__(**kwargs)
                shared.switch.guard(GROUP, cover_class, shared, cls)

            return classmethod(__init_subclass__)

        self.switch.replace(GROUP, base, "__init_subclass__", make)

    def wrap(self, cls: type) -> None:
        for name, told in self.methods.items():
            self.wrap_method(cls, name, told)

    def wrap_method(self, cls: type, name: str, told: str) -> None:
        method = vars(cls).get(name)
        if not isinstance(method, FunctionType) or method in self.shared.stand_ins:
            return

        def make(original: Any) -> Any:
            made = stand_in(self.gate, told, original)
            self.shared.stand_ins.add(made)
            return made

        try:
            self.switch.replace(GROUP, cls, name, make)
        except (AttributeError, TypeError):
            pass  # a class that cannot be changed

    # ── the calls ───────────────────────────────────────────────────────────────────────────────────────────────────

    def call(self, original: Callable[..., Any], env: Any, args: Any, kwargs: Any) -> Any:
        """The call itself; what it calls in turn is silent."""
        here = self.here
        self.shared.steady.ref = None  # it may be called within
        here.inside = self.shared.within
        try:
            return original(env, *args, **kwargs)
        finally:
            here.inside = False

    def tell(self, look: Callable[..., None], env: Any, *args: Any) -> None:
        """Hand on to `look`, sandboxed; or keep back, within a call of which is not known whether it is of an env."""
        try:
            held = self.here.held
            if held is not None:
                held.hold(look, env, args)
                return
            if self.shared.waiting:
                for each in list(self.shared.waiting.values()):
                    each.let_go()
            look(env, *args)
        except Exception:
            self.switch.failed(GROUP)

    def quick_step(self, original: Callable[..., Any], env: Any, action: Any) -> Any:
        """The way most steps take: an environment met before, one argument, five results, and no end."""
        known, here, shared = self.known.get(id(env)), self.here, self.shared
        if known is None or known.ref() is not env or shared.holding or GROUP in self.off:
            return self.step(original, env, (action,), {})
        if shared.light is not None and not shared.waiting:
            steady = shared.steady
            steady.ref = None
            here.inside = shared.within
            if shared.ranges:
                nvtx.push("env step")
            try:
                result = original(env, action)
            finally:
                here.inside = False
                if shared.ranges:
                    nvtx.pop()
            try:
                if not shared.light(known, result):
                    self.tell(self.saw_step, env, action, result)
                elif known.stream is not None and known.stream is steady.playing and not shared.ranges:
                    steady.begin(known.ref, known.lanes)
            except Exception:
                self.switch.failed(GROUP)
            return result
        if not known.plain:
            return self.quick_batch(original, env, action, known)
        copy = action if isinstance(action, _SCALARS) else self.action_of((action,), {})
        here.inside = shared.within
        try:
            result = original(env, action)
        finally:
            here.inside = False
        if shared.waiting or shared.renewed or type(result) is not tuple or len(result) != 5:
            self.tell(self.saw_step, env, copy, result)
            return result
        try:
            obs, reward, terminated, truncated, _ = result
            if type(terminated) not in _FLAGS or terminated or truncated or not isinstance(obs, np.ndarray):
                self.tell(self.saw_step, env, copy, result)
            elif isinstance(reward, _SCALARS) and type(truncated) in _FLAGS:
                inner = known.inner()
                stream = known.stream or self.stream_of(known, inner)
                if stream is None or stream.vector:
                    self.log.step(inner, copy, obs, reward, terminated, truncated, None)
                else:
                    self.log.quick_step(inner, stream, copy, obs, reward, terminated, truncated, None, False)
            else:
                self.tell(self.saw_step, env, copy, result)
        except Exception:
            self.switch.failed(GROUP)
        return result

    def counted(self, env: Any, action: Any, result: Any) -> None:
        """A step of the one that is steady, which may have ended an episode."""
        try:
            light = self.shared.light
            if light is not None and not light(self.known_as(env), result):
                self.tell(self.saw_step, env, action, result)
        except Exception:
            self.switch.failed(GROUP)

    def quick_batch(self, original: Callable[..., Any], env: Any, action: Any, known: Known) -> Any:
        """The same for a vector of environments."""
        copy = action.copy() if type(action) is np.ndarray else self.action_of((action,), {})
        result = self.call(original, env, (action,), {})
        quick = None if self.shared.waiting else self.quick_results(known, copy, result)
        if quick is None:
            self.tell(self.saw_step, env, copy, result)
            return result
        self.shared.renewed = False
        try:
            if quick[4] is not None:
                self.renews(known, env)
            inner = known.inner()
            stream = known.stream or self.stream_of(known, inner)
            if stream is None or not stream.vector or stream.lanes != known.lanes:
                self.log.step(inner, copy, *quick[:5])
            else:
                self.log.quick_step(inner, stream, copy, *quick)
        except Exception:
            self.switch.failed(GROUP)
        return result

    def quick_results(self, known: Known, action: Any, result: Any) -> tuple[Any, ...] | None:
        """Observations, rewards, two flags, last observations, and whether one ended, of a vector of environments where
        all is plain arrays, with one row for each."""
        return plain_batch(known.lanes, action, result) if known.vector and known.lanes > 1 else None

    def stream_of(self, known: Known, inner: Any) -> Any:
        known.stream = self.log.stream_of(inner) if hasattr(self.log, "quick_step") else None
        return known.stream

    def step(self, original: Callable[..., Any], env: Any, args: Any, kwargs: Any) -> Any:
        if GROUP in self.off:
            return original(env, *args, **kwargs)
        action = self.action_of(args, kwargs)
        result = self.call(original, env, args, kwargs)
        self.tell(self.saw_step, env, action, result)
        return result

    def reset(self, original: Callable[..., Any], env: Any, args: Any, kwargs: Any) -> Any:
        if GROUP in self.off:
            return original(env, *args, **kwargs)
        asked = self.switch.guard(GROUP, self.asked_of, original, env, args, kwargs)
        result = self.call(original, env, args, kwargs)
        self.shared.renewed = False
        if asked is not None:
            self.tell(self.saw_reset, env, result, *asked)
        return result

    def send(self, original: Callable[..., Any], env: Any, args: Any, kwargs: Any) -> Any:
        """step_async: the action is told when the step is waited for."""
        if GROUP in self.off:
            return original(env, *args, **kwargs)
        action = self.action_of(args, kwargs)
        result = self.call(original, env, args, kwargs)
        self.switch.guard(GROUP, self.sent, env, action)
        return result

    def wait(self, original: Callable[..., Any], env: Any, args: Any, kwargs: Any) -> Any:
        """step_wait."""
        result = self.call(original, env, args, kwargs)
        if GROUP not in self.off:
            self.tell(self.saw_wait, env, result)
        return result

    def send_reset(self, original: Callable[..., Any], env: Any, args: Any, kwargs: Any) -> Any:
        """reset_async."""
        if GROUP in self.off:
            return original(env, *args, **kwargs)
        asked = self.switch.guard(GROUP, self.asked_of, original, env, args, kwargs)
        result = self.call(original, env, args, kwargs)
        self.switch.guard(GROUP, self.sent, env, asked)
        return result

    def wait_reset(self, original: Callable[..., Any], env: Any, args: Any, kwargs: Any) -> Any:
        """reset_wait."""
        result = self.call(original, env, args, kwargs)
        if GROUP not in self.off:
            self.tell(self.saw_wait_reset, env, result)
        return result

    def create(self, original: Callable[..., Any], env: Any, args: Any, kwargs: Any) -> Any:
        """`__init__` of a wrapper: where the program made the environment in it."""
        result = original(env, *args, **kwargs)
        self.switch.guard(GROUP, self.saw_creation, env)
        return result

    # ── what is seen ────────────────────────────────────────────────────────────────────────────────────────────────

    def action_of(self, args: Any, kwargs: Any) -> Any:
        """A copy, made before the call: environments clip and scale in place."""
        return self.switch.guard(GROUP, copied, args[0] if args else next(iter(kwargs.values()), None))

    def asked_of(self, original: Any, env: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """The seed as given, and which lanes are reset. Before the call: Gymnasium takes the mask away."""
        options = kwargs.get("options")
        mask = options.get("reset_mask") if isinstance(options, dict) else None
        return seed_of(original, args, kwargs), None if mask is None else np.array(mask, dtype=bool)

    def known_as(self, env: Any) -> Known:
        known = self.known.get(id(env))
        return known if known is not None and known.ref() is env else self.meet(env)

    def meet(self, env: Any) -> Known:
        """The first call of an object. The log is told once of each innermost environment, however it is wrapped."""
        if len(self.known) > _MANY:
            self.known = {key: each for key, each in self.known.items() if each.ref() is not None}
        if self.shared.on_meeting is not None:
            self.shared.on_meeting(env)
        inner = unwrapped(env)
        known = self.known[id(env)] = Known(env, inner, *self.lanes_of(env))
        told = self.shared.told.get(id(inner))
        if told is None or told() is not inner:
            self.announce(env, known)
        return known

    def lanes_of(self, env: Any) -> tuple[int, bool]:
        """How many environments the object plays, and whether it hands over batches."""
        return 1, False

    def announce(self, env: Any, known: Known) -> None:
        inner, told = known.inner(), self.shared.told
        if len(told) > _MANY:
            self.shared.told = told = {key: each for key, each in told.items() if each() is not None}
        told[id(inner)] = known.inner
        try:
            known.facts.update(facts_of(env, self.created(env)))
        except Exception as error:  # a space or spec unlike any we know: no reason to stop watching
            known.facts.update({"id": type(inner).__name__, "unreadable": repr(error)})
        for each in self.known.values():
            each.stream = None  # it may be of this very environment
        self.log.new(inner, self.kind_of(known), known.lanes, self.autoreset(env), known.facts)

    def kind_of(self, known: Known) -> str:
        return self.kind

    def autoreset(self, env: Any) -> str:
        return autoreset_of(env)

    def created(self, env: Any) -> tuple[str, int] | None:
        inner = innermost(env)
        found = self.shared.created.get(id(inner))
        return found[1] if found is not None and found[0]() is inner else None

    def saw_creation(self, env: Any) -> None:
        inner, created = innermost(env), self.shared.created
        found = created.get(id(inner))
        new = found is None or found[0]() is not inner
        if new and type(inner).__weakrefoffset__ and (place := users_line()) is not None:
            if len(created) > _MANY:
                created.clear()
            created[id(inner)] = (ref(inner), place)

    def sent(self, env: Any, what: Any) -> None:
        self.known_as(env).sent = what

    def saw_wait(self, env: Any, result: Any) -> None:
        known = self.known_as(env)
        action, known.sent = known.sent, None
        self.saw_step(env, action, result)

    def saw_wait_reset(self, env: Any, result: Any) -> None:
        known = self.known_as(env)
        asked, known.sent = known.sent, None
        self.saw_reset(env, result, *(asked or (None, None)))

    def saw_reset(self, env: Any, result: Any, seed: Any, mask: Any) -> None:
        known = self.known_as(env)
        if known.lives:
            self.count_lives(known, lives_of(result[-1]) if isinstance(result, tuple) else 0)
        obs = host(reset_obs(result))
        if known.vector or known.lanes > 1:
            obs = batch(obs, known.lanes)
        self.log.reset(known.inner(), obs, seed, known.lanes, mask)
        self.look_at_generator(env, known, seed)
        if known.renewals <= _RESETS:  # the first of all is hardly ever within a step
            known.renewals += 1
            if (within := stepping_frame(env)) is not None:
                known.facts["reset_within"] = within

    def look_at_generator(self, env: Any, known: Known, seed: Any) -> None:
        """After the first resets without a seed: an environment that never draws has no generator of its own."""
        if seed is None and known.unseeded < _RESETS:
            known.unseeded += 1
            if seeded_by_chance(env):
                known.facts["unseeded_generator"] = True

    def saw_step(self, env: Any, action: Any, result: Any) -> None:
        known = self.known_as(env)
        renewed, self.shared.renewed = self.shared.renewed, False
        if known.vector:
            self.saw_batch(known, env, action, result)
        elif known.lanes == 1 and _is_plain(result):
            obs, reward, terminated, truncated, info = result
            obs, final = host(obs), None
            if terminated or truncated:
                final = finals(info, True, 1, obs)
                known.lives = lives_of(info) if terminated else 0
                if renewed:
                    known.facts["resets_itself"] = True
                if self.shared.ended == "cut":
                    self.count_cut(known, bool(truncated))
            known.plain = True
            self.log.step(known.inner(), action, obs, reward, terminated, truncated, final)
        else:
            self.saw_other(known, env, action, result, renewed)

    def count_cut(self, known: Known, told: bool) -> None:
        """The environment within has cut the episode off: whether that was handed on."""
        self.shared.ended = ""
        name = "cuts_told" if told else "cuts_untold"
        known.facts[name] = known.facts.get(name, 0) + 1

    def count_lives(self, known: Known, now: int) -> None:
        """An episode ended with lives left: whether the game went on with them, or began anew."""
        name = "lives_renewed" if now > known.lives else "lives_kept"
        known.facts[name] = known.facts.get(name, 0) + 1
        known.lives = 0

    def saw_other(self, known: Known, env: Any, action: Any, result: Any, renewed: bool) -> None:
        """Anything but the five of Gymnasium with one number for the reward."""
        step = understand(result)
        if step is None:
            self.saw_nothing(known)
            return
        known.facts["api"] = step.api
        if renewed and (np.any(step.terminated) or np.any(step.truncated)):
            known.facts["resets_itself"] = True
        if step.lanes != known.lanes:  # only a step shows that one object plays many
            known.lanes = step.lanes
            self.announce(env, known)
        if step.lanes > 1:
            action = batch(action, step.lanes)
        self.log.step(known.inner(), action, step.obs, step.reward, step.terminated, step.truncated, step.final_obs)

    def renews(self, known: Known, env: Any) -> None:
        """Last observations beside those of the reset: it has restarted within the step, though it does not say so."""
        stream = self.stream_of(known, known.inner())
        if stream is not None and stream.autoreset == "next-step" and not declares_autoreset(env):
            stream.autoreset = "same-step"

    def saw_nothing(self, known: Known) -> None:
        """A step of which nothing can be read is counted."""
        many = known.lanes > 1
        nothing = [None] * known.lanes if many else None
        flags = np.zeros(known.lanes, dtype=bool) if many else False
        rewards = np.full(known.lanes, np.nan) if many else np.nan
        self.log.step(known.inner(), nothing, nothing, rewards, flags, flags, None)

    def saw_batch(self, known: Known, env: Any, action: Any, result: Any) -> None:
        """Gymnasium's five, each with one for every lane."""
        if not isinstance(result, tuple) or len(result) != 5:
            self.saw_other(known, env, action, result, False)
            return
        obs, reward, terminated, truncated = map(host, result[:4])
        lanes, info = known.lanes, result[4]
        if any(np.size(each) != lanes for each in (reward, terminated, truncated)) or reward is None:  # on a device
            self.saw_nothing(known)
            return
        done = np.asarray(terminated, dtype=bool) | np.asarray(truncated, dtype=bool)
        final = finals(info, done, lanes, None, batched=True) if info and done.any() else None
        if final is not None:
            self.renews(known, env)
        action, obs = batch(action, lanes), batch(obs, lanes)
        if lanes == 1:
            reward, terminated, truncated = number(reward), bool(np.all(terminated)), bool(np.all(truncated))
        self.log.step(known.inner(), action, obs, reward, terminated, truncated, final)


def lives_of(info: Any) -> int:
    """As games tell them, in the info of a step or a reset; 0 where they do not."""
    lives = info.get("lives") if type(info) is dict else None
    return int(lives) if isinstance(lives, (int, np.integer)) and not isinstance(lives, bool) else 0


def _is_plain(result: Any) -> bool:
    if type(result) is not tuple or len(result) != 5 or not isinstance(result[1], _SCALARS):
        return False
    return type(result[2]) in _FLAGS and type(result[3]) in _FLAGS
