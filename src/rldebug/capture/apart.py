"""Environments whose step returns no observation, only what it paid and whether it is over: the observation is asked
for with another method of the object, or lies in an attribute of it.

Such an object is told by its values. A step has returned a number and a flag; before it something of the object was
shown, and a network was given just that. Until then all is kept back, then it is told as if it had been all along
(apart_story.py). What asks a network itself, or steps an environment, is left alone for good.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary, ref

import numpy as np
import torch
from torch.nn.modules.module import register_module_forward_pre_hook
from torch.optim.optimizer import register_optimizer_step_pre_hook

from rldebug.capture.apart_matches import follows, given_to, is_same, numbers_in
from rldebug.capture.apart_methods import Methods, methods_of
from rldebug.capture.apart_story import Played, Story, outcome
from rldebug.capture.env_calls import GROUP, Shared, stand_in
from rldebug.capture.env_results import copied
from rldebug.capture.env_watch import Watch
from rldebug.capture.place import is_users, users_line
from rldebug.capture.worlds import observed

_CALLS = 3000  # of a class, before one of them returned what a step does
_UNDECIDED = 200_000  # and until it is known that what is shown is what a network is given
_ASKED = 3000  # times that a network was asked meanwhile
_HELD_BYTES = 1 << 25
_ATTRIBUTES = 4096  # numbers in one that may be the observation
_LIST = 64
_PAIRS = 8
_TWICE, _THRICE = 2, 3  # times that a network was given what was seen; of a single number
_OBJECTS = 4096


class Case:
    """A class that may be of such objects, and what is known of it."""

    def __init__(self, cls: type, methods: Methods) -> None:
        self.name, self.methods = cls.__name__, methods
        self.steps = set(methods.steps)
        self.step = ""  # the one that has returned what a step does
        self.looks: set[str] = set()  # that give the observation
        self.attribute = ""  # or where it lies
        self.decided = False
        self.covered = False  # all methods have stand-ins
        self.held: list[tuple[Any, ...]] = []
        self.bytes = self.calls = self.asked = 0
        self.votes: Counter[tuple[str, str]] = Counter()
        self.values: dict[tuple[str, str], set[bytes]] = {}
        self.pairs: dict[tuple[Any, ...], list[tuple[Any, Any]]] = {}  # by what is shown, and the size of what is given
        self.story: Story | None = None


class Object:
    """One of them."""

    __slots__ = ("asked", "paired", "played", "ref", "seen", "thread")

    def __init__(self, env: Any, created: Any) -> None:
        self.ref, self.played = ref(env), Played(env, created)
        self.thread = threading.get_ident()
        self.seen: dict[tuple[str, str], Any] = {}  # shown since the last step, until it is decided
        self.asked: set[tuple[str, str]] = set()  # what a network was given since then
        self.paired: set[tuple[Any, ...]] = set()


class _Own(threading.local):
    busy: Any = None  # the class of the object that is being called


class Apart(Watch):
    kind = "apart"

    def __init__(self, shared: Shared) -> None:
        super().__init__(shared)
        self.cases: WeakKeyDictionary[type, Case | None] = WeakKeyDictionary()  # None: left alone
        self.objects: dict[int, Object] = {}
        self.own = _Own()
        self.counted_log = getattr(self.log, "log", None) or self.log  # behind that of a profile
        self.handles: list[Any] = []
        self.learning: Any = None
        self.switch.when_undone(self.unhook)

    # ── finding the classes ─────────────────────────────────────────────────────────────────────────────────────────

    def consider(self, cls: type) -> None:
        if cls in self.cases or not cls.__weakrefoffset__:
            return
        methods = methods_of(cls, is_users)
        if methods is None:
            return
        case = self.cases[cls] = Case(cls, methods)
        for name in case.steps:
            self.cover_method(cls, name, "play")
        if methods.plain:
            self.cover_all(cls, case)

    def cover_all(self, cls: type, case: Case) -> None:
        case.covered = True
        for name in case.methods.all - case.steps:
            self.cover_method(cls, name, "birth" if name == "__init__" else "look")
        for name in case.methods.getters:
            for base in cls.__mro__:
                getter = vars(base).get(name)
                if isinstance(getter, property) and isinstance(getter.fget, FunctionType):
                    self.cover_getter(base, name, getter)

    def cover_method(self, cls: type, name: str, told: str) -> None:
        for base in cls.__mro__:
            if isinstance(method := vars(base).get(name), FunctionType) and is_users(method.__code__.co_filename):
                self.wrap_method(base, name, told)

    def cover_getter(self, base: type, name: str, getter: property) -> None:
        if getter.fget in self.shared.stand_ins:
            return

        def make(original: Any) -> Any:
            made = stand_in(self.gate, "look", original.fget)
            self.shared.stand_ins.add(made)
            return property(made, original.fset, original.fdel, original.__doc__)

        try:
            self.switch.replace(GROUP, base, name, make)
        except (AttributeError, TypeError):
            pass

    def leave(self, cls: type) -> None:
        """For good. Its methods are what they were, where no other class has them from it."""
        self.cases[cls] = None
        others = [each for each, case in self.cases.items() if case is not None]
        for base in cls.__mro__:
            if not any(issubclass(each, base) for each in others) and not type.__subclasses__(base):
                self.uncover(base)
        self.objects = {key: each for key, each in self.objects.items() if type(each.ref()) is not cls}
        if not any(case is not None and not case.decided for case in self.cases.values()):
            self.stop_asking()

    def uncover(self, base: type) -> None:
        for name, each in list(vars(base).items()):
            method = each.fget if isinstance(each, property) else each
            if isinstance(method, FunctionType) and method in self.shared.stand_ins:
                original = getattr(method, "__wrapped__", None)
                if original is None:
                    continue
                setattr(
                    base, name, property(original, each.fset, each.fdel) if isinstance(each, property) else original
                )

    # ── the calls ───────────────────────────────────────────────────────────────────────────────────────────────────

    def call(self, original: Callable[..., Any], env: Any, args: Any, kwargs: Any) -> Any:
        """The call itself; what the object calls of its own in turn is silent."""
        own = self.own
        own.busy = type(env)
        try:
            return original(env, *args, **kwargs)
        finally:
            own.busy = None

    def call_known(self, original: Callable[..., Any], env: Any, args: Any, kwargs: Any) -> Any:
        """The same, of what is known to be an environment: profiles tell it by the name of this function, so it must
        be a frame of its own."""
        own = self.own
        own.busy = type(env)
        try:
            return original(env, *args, **kwargs)
        finally:
            own.busy = None

    def case_of(self, env: Any) -> Case | None:
        if self.own.busy is not None or GROUP in self.off or self.shared.holding:
            return None
        return self.cases.get(type(env))

    def play(self, original: Callable[..., Any], env: Any, args: Any, kwargs: Any) -> Any:
        case = self.case_of(env)
        if case is None:
            return original(env, *args, **kwargs)
        name = original.__name__
        if name not in case.steps or (case.step and name != case.step):
            return self.look(original, env, args, kwargs)
        try:
            found = self.before(case, env)
            action = copied(args[0] if args else next(iter(kwargs.values()), None))
            calls = self.calls
        except Exception:
            found = None
            self.switch.failed(GROUP)
        if found is None:
            return original(env, *args, **kwargs)
        result = (self.call_known if case.decided else self.call)(original, env, args, kwargs)
        try:
            self.after(case, found, env, name, action, result, calls)
        except Exception:
            self.switch.failed(GROUP)
        return result

    def look(self, original: Callable[..., Any], env: Any, args: Any, kwargs: Any) -> Any:
        case = self.case_of(env)
        if case is None:
            return original(env, *args, **kwargs)
        result = (self.call_known if case.decided else self.call)(original, env, args, kwargs)
        try:
            self.saw_call(case, env, original.__name__, result)
        except Exception:
            self.switch.failed(GROUP)
        return result

    def birth(self, original: Callable[..., Any], env: Any, args: Any, kwargs: Any) -> Any:
        case = self.case_of(env)
        if case is None:
            return original(env, *args, **kwargs)
        result = self.call(original, env, args, kwargs)
        self.switch.guard(GROUP, self.saw_birth, case, env)
        return result

    @property
    def calls(self) -> int:
        return int(getattr(self.counted_log, "calls", 0))

    # ── what is seen ────────────────────────────────────────────────────────────────────────────────────────────────

    def object(self, case: Case, env: Any) -> Object | None:
        found = self.objects.get(id(env))
        if found is None or found.ref() is not env:
            if len(self.objects) > _OBJECTS:
                self.objects = {key: each for key, each in self.objects.items() if each.ref() is not None}
            found = self.objects[id(env)] = Object(env, None)
        if found.thread != threading.get_ident():
            self.leave(type(env))  # whose steps would be told among others'
            return None
        return found

    def saw_birth(self, case: Case, env: Any) -> None:
        found = self.objects[id(env)] = Object(env, users_line())
        if case.decided:
            self.look_within(case, found, env)

    def saw_call(self, case: Case, env: Any, name: str, result: Any) -> None:
        found = self.object(case, env)
        if found is None:
            return
        if name in case.methods.changing and name not in case.looks:
            self.note(case, found, "touch", name)
        if result is not None and (name in case.looks or not case.decided):
            self.saw_value(case, found, ("()", name), result)
        if name in case.methods.changing and case.step:
            self.look_within(case, found, env)
        self.count(case, type(env))

    def count(self, case: Case, cls: type) -> None:
        case.calls += 1
        if not case.decided and case.calls > (_UNDECIDED if case.step else _CALLS):
            self.leave(cls)

    def saw_value(self, case: Case, found: Object, what: tuple[str, str], value: Any) -> None:
        obs = observed(value)
        if obs is None:
            return
        if not case.decided:
            obs = copied(obs)
            found.seen[what] = obs
            found.asked.discard(what)
            case.bytes += int(getattr(obs, "nbytes", 8))
            self.ask()
        self.note(case, found, "look", what, obs, what[1] in case.methods.changing)

    def look_within(self, case: Case, found: Object, env: Any) -> None:
        """At the attributes that lie in the object itself; nothing of the program is called for that."""
        if case.decided and not case.attribute:
            return
        try:
            own = object.__getattribute__(env, "__dict__")
        except AttributeError:
            return
        names = [case.attribute] if case.decided else list(own)
        for name in names:
            value = own.get(name)
            if _may_be_shown(value):
                self.saw_value(case, found, (".", name), value)

    def before(self, case: Case, env: Any) -> Object | None:
        found = self.object(case, env)
        if found is not None and not case.decided:
            if any(each.kind != self.kind for each in getattr(self.counted_log, "streams", ())):
                self.leave(type(env))  # where there are environments, what looks like one is a model of it
                return None
            self.look_within(case, found, env)
            self.decide(case, type(env))
        return found

    def after(self, case: Case, found: Object, env: Any, name: str, action: Any, result: Any, calls: int) -> None:
        if self.cases.get(type(env)) is not case:
            return
        step = outcome(result)
        if self.calls != calls:
            self.leave(type(env))  # an environment was stepped within
            return
        if step is None:
            case.steps.discard(name)
            if case.step == name or not case.steps:
                self.leave(type(env))
            else:
                self.saw_call(case, env, name, result)
            return
        if not case.step:
            case.step = name
            if not case.covered:
                self.cover_all(type(env), case)
        found.seen, found.asked, found.paired = {}, set(), set()
        self.note(case, found, "step", action, step)
        self.look_within(case, found, env)
        self.count(case, type(env))

    # ── telling ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def note(self, case: Case, found: Object, what: str, *told: Any) -> None:
        if case.story is not None:
            case.story.tell(found.played, what, *told)
            return
        case.held.append((found, what, *told))
        if case.bytes > _HELD_BYTES:
            del case.held[: len(case.held) // 2]
            case.bytes //= 2

    def decide(self, case: Case, cls: type) -> None:
        """Before a step: whether what was shown before it, and before others, is what networks were given."""
        enough = {
            what
            for what, count in case.votes.items()
            if count >= _TWICE and len(case.values[what]) >= (_THRICE if _single(case, what) else _TWICE)
        }
        enough |= {(how, name) for (how, name, _), pairs in case.pairs.items() if follows(pairs)}
        methods = {name for how, name in enough if how == "()"}
        fields = sorted(name for how, name in enough if how == ".")
        if not case.step or not enough:
            return
        if methods:
            case.looks = methods | {name for (how, name), count in case.votes.items() if how == "()" and count}
        else:
            case.attribute = fields[0]
        case.decided = True
        story = Story(self.log, self.counted_log, self.kind, case.name, cls)
        held, case.held = case.held, []
        case.story = story
        wanted = {("()", name) for name in case.looks} | ({(".", case.attribute)} if case.attribute else set())
        for found, what, *told in held:
            if what == "touch" and told[0] in case.looks:
                continue
            if what != "look" or told[0] in wanted:
                story.tell(found.played, what, *told)
        case.pairs, case.votes, case.values = {}, Counter(), {}
        if not any(each is not None and not each.decided and each.step for each in self.cases.values()):
            self.stop_asking()
        if self.learning is None:
            self.learning = register_optimizer_step_pre_hook(self.learns)
            self.handles.append(self.learning)

    # ── networks ────────────────────────────────────────────────────────────────────────────────────────────────────

    def ask(self) -> None:
        if not any(each is not self.learning for each in self.handles):
            self.handles.append(register_module_forward_pre_hook(self.asked))

    def stop_asking(self) -> None:
        for each in self.handles:
            if each is not self.learning:
                each.remove()
        self.handles = [each for each in self.handles if each is self.learning]

    def unhook(self) -> None:
        for each in self.handles:
            each.remove()
        self.handles = []

    def asked(self, module: Any, args: Any) -> None:
        self.switch.guard(GROUP, self.saw_asking, args)

    def saw_asking(self, args: Any) -> None:
        if torch.compiler.is_compiling():
            return
        busy = self.own.busy
        if busy is not None:
            if self.cases.get(busy) is not None and not self.cases[busy].decided:  # type: ignore[union-attr]
                self.leave(busy)  # a learned model, or the learner
            return
        given: Any = None
        for found in list(self.objects.values()):
            env = found.ref()
            case = None if env is None else self.cases.get(type(env))
            new = found.seen.keys() - found.asked
            if case is None or case.decided or not new:
                continue
            given = given_to(args) if given is None else given
            case.asked += 1
            if case.asked > _ASKED:
                self.leave(type(env))
                return
            for what in new:
                self.compare(case, found, what, given)

    def compare(self, case: Case, found: Object, what: tuple[str, str], given: list[Any]) -> None:
        seen = numbers_in(found.seen[what])
        if seen is None or not given:
            return
        if any(is_same(seen, each) for each in given):
            found.asked.add(what)
            case.votes[what] += 1
            case.values.setdefault(what, set()).add(seen.tobytes())
            return
        for each in given:
            # Of each step what a network is given first; those within it get something else.
            if each.size % seen.size == 0 and (*what, each.size) not in found.paired:
                found.paired.add((*what, each.size))
                pairs = case.pairs.setdefault((*what, each.size), [])
                pairs.append((seen, each))
                del pairs[:-_PAIRS]

    def learns(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        """Before an optimizer steps: an episode that has ended belongs to what is learned from now."""
        self.switch.guard(GROUP, self.saw_learning)

    def saw_learning(self) -> None:
        for case in self.cases.values():
            if case is not None and case.story is not None:
                case.story.learns()


def _single(case: Case, what: tuple[str, str]) -> bool:
    return any(len(each) <= 8 for each in case.values[what])


def _may_be_shown(value: Any) -> bool:
    """An array, or a short list: what a longer one is of, nobody wants to go through at every step."""
    if isinstance(value, np.ndarray):
        return 0 < value.size <= _ATTRIBUTES
    if isinstance(value, torch.Tensor):
        return 0 < value.numel() <= _ATTRIBUTES and value.device.type == "cpu"
    return type(value) in (list, tuple) and 0 < len(value) <= _LIST
