"""Seeds: who seeds which random generator, with what, and when; also again and again, in the middle of training.

`torch.Generator` cannot be changed and is not watched; seeds given to `env.reset` are in the log of the environments.
"""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from rldebug.capture.arguments import user_sources
from rldebug.capture.place import is_users, users_line
from rldebug.capture.stand_in import stand_in

if TYPE_CHECKING:
    from rldebug.capture.session import Session

GROUP = "seeds"
_KEPT = 64  # calls of one line that are remembered, the first ones; and lines
_NOTED = 4  # notes of one line before they get rarer
_PRIVATE = ("manual_seed", "RandomState(", "random.Random(", "Generator(", "SeedSequence(")


@dataclass
class Seeding:
    """A line that seeds a generator."""

    what: str
    line: tuple[str, int] | None
    times: int = 0
    same: int = 0  # with the value of the time before
    again: int = 0  # of those, how often the program had trained in between
    restored: int = 0  # the state of the generator was put back before the next time
    calls: list[dict[str, Any]] = field(default_factory=list)
    last: tuple[Any, int] | None = None
    since: bool = False  # whether it has been put back since the last time


class Seeds:
    def __init__(self, session: Session) -> None:
        self.session = session
        self.places: dict[tuple[Any, ...], Seeding] = {}
        self.inside = threading.local()  # torch.manual_seed seeds the GPUs by the functions that are watched too

    def seeded(self, what: str, value: Any) -> None:
        line = users_line()
        place = self.places.get((what, line))
        if place is None:
            if len(self.places) >= _KEPT:
                return
            place = self.places[what, line] = Seeding(what, line)
        value, update = plain(value), self.session.updates
        place.times += 1
        if place.last is not None and place.last[0] == value:
            place.same += 1
            place.again += update > place.last[1]
        place.restored += place.since
        place.since, place.last = False, (value, update)
        call = {
            "value": value,
            "update": update,
            "env_call": self.session.env_calls,
            "optimizers": len(self.session.registry.optimizers),  # rises where a new training begins
        }
        if len(place.calls) < _KEPT:
            place.calls.append(call)
        if place.times <= _NOTED or rare(place.times):
            self.session.note("seed", what=what, line=line, times=place.times, **call)
            self.write(place)

    def put_back(self, what: str) -> None:
        for place in self.places.values():
            place.since = place.since or place.what == what

    def at_finish(self) -> None:
        if not self.places:
            # Generators of the program's own cannot be watched. That it has some can be read.
            for file, text in user_sources().items():
                if any(each in text for each in _PRIVATE):
                    self.session.note("seed", what="private", value=None, line=(file, None), times=1)
        for place in self.places.values():
            self.write(place)

    def write(self, place: Seeding) -> None:
        key = f"{place.what} {place.line[0]}:{place.line[1]}" if place.line else place.what
        self.session.thing(
            "seeding", key, what=place.what, line=place.line, times=place.times, same=place.same,
            again=place.again, restored=place.restored + place.since, calls=place.calls,
        )  # fmt: skip


def install(session: Session) -> None:
    seeds = Seeds(session)
    _watch(session, seeds, "torch", (torch.random, torch), "manual_seed")
    _watch(session, seeds, "cuda", (torch.cuda.random, torch.cuda), "manual_seed")
    _watch(session, seeds, "cuda", (torch.cuda.random, torch.cuda), "manual_seed_all")
    _watch(session, seeds, "numpy", (np.random,), "seed")
    _watch(session, seeds, "python", (random,), "seed")
    _watch(session, seeds, "generator", (np.random,), "default_rng", users_only=True)
    _watch_state(session, seeds, "torch", (torch.random, torch), "set_rng_state")
    _watch_state(session, seeds, "numpy", (np.random,), "set_state")
    _watch_state(session, seeds, "python", (random,), "setstate")
    session.on_finish.append(lambda: session.switch.guard(GROUP, seeds.at_finish))


def _watch(
    session: Session, seeds: Seeds, what: str, owners: tuple[Any, ...], name: str, users_only: bool = False
) -> None:
    def make(original: Callable[..., Any]) -> Any:
        def seeded(*args: Any, **kwargs: Any) -> Any:
            if not session.switch.on(GROUP) or getattr(seeds.inside, "here", False):
                return original(*args, **kwargs)
            seeds.inside.here = True
            try:
                result = original(*args, **kwargs)
            finally:
                seeds.inside.here = False
            if not users_only or is_users(sys._getframe(1).f_code.co_filename):
                value = args[0] if args else next(iter(kwargs.values()), None)
                session.switch.guard(GROUP, seeds.seeded, what, value)
            return result

        return stand_in(original, seeded)

    _put(session, owners, name, make)


def _watch_state(session: Session, seeds: Seeds, what: str, owners: tuple[Any, ...], name: str) -> None:
    def make(original: Callable[..., Any]) -> Any:
        def put_back(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            session.switch.guard(GROUP, seeds.put_back, what)
            return result

        return stand_in(original, put_back)

    _put(session, owners, name, make)


def _put(session: Session, owners: tuple[Any, ...], name: str, make: Callable[[Any], Any]) -> None:
    """One stand-in under all the names of a function.

    A function is pickled by its name, and only where that name leads back to it: partial(torch.manual_seed, 3) must
    still go to a spawned process.
    """
    made: list[Any] = []

    def once(original: Any) -> Any:
        if not made:
            made.append(make(original))
            made[0].__module__, made[0].__qualname__, made[0].__name__ = owners[0].__name__, name, name
        return made[0]

    for owner in owners:
        session.switch.replace(GROUP, owner, name, once)


def plain(value: Any) -> Any:
    """A seed as JSON has it."""
    if isinstance(value, bool) or value is None or isinstance(value, (int, str)):
        return value
    if isinstance(value, (np.integer, float)):
        return int(value)
    return repr(value)[:60]


def rare(count: int) -> bool:
    return count & (count - 1) == 0  # a power of two
