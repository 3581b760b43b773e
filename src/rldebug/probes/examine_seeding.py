"""What a seed decides: the same actions played again and again, in fresh and used instances, alone and side by side."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import inspect
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np

from rldebug.evidence.env_contract import Difference, Seeding
from rldebug.probes.examine_handout import differing, frozen

Env = gym.Env[Any, Any]
Fresh = Callable[[], contextlib.AbstractContextManager[Env]]

GENERATORS = ("random", "numpy.random", "torch")
_SEEDS = 4
_UNSEEDED = 5
_INSTANCES = 3


@dataclass(frozen=True)
class Moment:
    """What came back from one call; `ended` by an exception too."""

    obs: Any
    reward: Any = 0.0
    terminated: Any = False
    truncated: Any = False


class OutOfTime(Exception):
    """The budget is spent: what is not known by now stays unknown."""


def set_globals(seed: int, other: Sequence[str] = ()) -> None:
    """All global generators from one seed; those named in `other` from another."""
    torch = sys.modules.get("torch")
    random.seed(seed + 1000 * ("random" in other))
    np.random.seed(seed + 1000 * ("numpy.random" in other))
    if torch is not None:
        torch.default_generator.manual_seed(seed + 1000 * ("torch" in other))


def sample(space: gym.Space[Any], info: Any) -> Any:
    """A random action, of those that `info["action_mask"]` allows."""
    mask = info.get("action_mask") if isinstance(info, dict) else None
    if mask is not None:
        with contextlib.suppress(Exception):  # a mask that does not fit is none
            fitting = tuple(np.asarray(each, np.int8) for each in mask) if _many(mask) else np.asarray(mask, np.int8)
            return space.sample(fitting)
    return space.sample()


def walk(
    env: Env, actions: list[Any], length: int, *, seed: int | None = None, sample_seed: int = 0, across: bool = True
) -> list[Moment]:
    """Reset, then play `actions`; draw and append where there are too few. `across`: go on over ends of episodes."""
    space = copy.deepcopy(env.action_space)  # an environment may draw from its own
    space.seed(sample_seed)
    obs, info = env.reset() if seed is None else env.reset(seed=seed)
    moments = [Moment(frozen(obs))]
    for t in range(length):
        if t == len(actions):
            actions.append(sample(space, info))
        obs, reward, terminated, truncated, info = env.step(frozen(actions[t]))
        moments.append(Moment(frozen(obs), frozen(reward), frozen(terminated), frozen(truncated)))
        if terminated or truncated:
            if not across:
                break
            obs, info = env.reset()
            moments.append(Moment(frozen(obs)))
    return moments


def difference(one: list[Moment], other: list[Moment]) -> Difference | None:
    first: tuple[int, str, str, str] | None = None
    last, dynamics, rounding = 0, len(one) != len(other), False
    for step, (a, b) in enumerate(zip(one, other, strict=False)):
        flags = next(
            filter(None, (differing(getattr(a, each), getattr(b, each), each) for each in ("terminated", "truncated"))),
            None,
        )
        moved = differing(a.reward, b.reward, "reward") or flags
        apart = differing(a.obs, b.obs) or moved
        dynamics = dynamics or moved is not None
        if apart is None and first is None:
            rounding = rounding or differing(a.obs, b.obs, exact=True) is not None
        if apart is not None:
            first = first or (step, *apart)
            last = step
    if first is None:
        return None
    return Difference(*first, last=last, of=min(len(one), len(other)) - 1, dynamics=dynamics, rounding=rounding)


def examine_seeding(fresh: Fresh, *, seed: int, length: int, deadline: float) -> Seeding:
    """Asks one question after the other, each only where the answer to those before leaves it a meaning."""
    actions: list[Any] = []

    def run(number: int | None, globals_seed: int = 1, other: Sequence[str] = (), depth: int = 0) -> list[Moment]:
        _in_time(deadline)
        set_globals(globals_seed, other)
        with fresh() as env:
            # A layer further in may take other actions: those are drawn anew, from the same seed every time.
            theirs: list[Any] = actions if depth == 0 else []
            return walk(peeled(env, depth), theirs, length, seed=number, sample_seed=seed + 7)

    first = run(seed)
    facts = Seeding(steps=length)
    with contextlib.suppress(OutOfTime):
        with fresh() as env:
            nondeterministic = bool(getattr(env.spec, "nondeterministic", False)) if env.spec is not None else False
            names = [type(each).__name__ for each in stack(env)]
        facts = dataclasses.replace(facts, nondeterministic=nondeterministic)
        again = difference(first, run(seed))
        if again is not None:
            shared = _shared_attribute(fresh, lambda: run(seed))
            if shared:
                return dataclasses.replace(facts, neighbour=again, shared=shared)
            return dataclasses.replace(facts, same_seed=again)
        apart = difference(first, run(seed, other=GENERATORS))
        if apart is not None:
            guilty = [each for each in GENERATORS if difference(first, run(seed, other=(each,))) is not None]
            facts = dataclasses.replace(
                facts, global_difference=apart, global_generator=" and ".join(guilty) or "a global generator"
            )
            return facts

        seeds = [first, *(run(seed + 1 + i) for i in range(_SEEDS - 1))]
        facts = dataclasses.replace(facts, seeds=_SEEDS, seeds_different=_different(seeds))
        facts = _unseeded(facts, fresh, actions, length, deadline)
        if facts.seeds_different == 1 and facts.unseeded_different > 1:
            for depth in range(1, len(names)):
                if _different([run(seed + i, depth=depth) for i in range(_SEEDS)]) > 1:
                    facts = dataclasses.replace(facts, seed_layer=names[depth - 1])
                    break
        played = _played(fresh, actions, length, seed, 0, deadline)
        if played is not None:
            for depth in range(len(names) - 1, -1, -1):  # from the inside: the first that shows it is the one
                inside = _played(fresh, actions, length, seed, depth, deadline)
                if inside is not None:
                    wrapper = depth < len(names) - 1
                    played = dataclasses.replace(inside, layer=names[depth], in_wrapper=wrapper)
                    break
            facts = dataclasses.replace(facts, played=played)
        facts = dataclasses.replace(
            facts, neighbour=difference(first, _side_by_side(fresh, actions, length, seed, deadline))
        )
    return facts


def _unseeded(facts: Seeding, fresh: Fresh, actions: list[Any], length: int, deadline: float) -> Seeding:
    with fresh() as env:
        set_globals(3)
        ours = []
        for _ in range(_UNSEEDED):
            _in_time(deadline)
            ours.append(walk(env, actions, length, across=False))
    theirs = []
    for i in range(_INSTANCES):
        _in_time(deadline)
        set_globals(11 + i)  # so that those who draw from the global generators differ
        with fresh() as env:
            theirs.append(walk(env, actions, length, across=True))
    return dataclasses.replace(
        facts,
        unseeded=_UNSEEDED,
        unseeded_different=_different(ours),
        instances=_INSTANCES,
        instances_different=_different(theirs),
    )


def _played(fresh: Fresh, actions: list[Any], length: int, seed: int, depth: int, deadline: float) -> Difference | None:
    """A fresh instance beside one that has been played with another seed, at this depth of the wrapper stack."""
    _in_time(deadline)
    set_globals(1)
    actions = actions if depth == 0 else []
    with fresh() as env:
        first = walk(peeled(env, depth), actions, length, seed=seed)
    set_globals(1)
    with fresh() as env:
        walk(peeled(env, depth), [], length, seed=seed + 100, sample_seed=seed + 8)
        set_globals(1)
        return difference(first, walk(peeled(env, depth), actions, length, seed=seed))


def _side_by_side(fresh: Fresh, actions: list[Any], length: int, seed: int, deadline: float) -> list[Moment]:
    """The trajectory of one instance while another is made, reset and stepped in between."""
    _in_time(deadline)
    set_globals(1)
    with fresh() as env, fresh() as other:
        obs, _ = env.reset(seed=seed)
        moments = [Moment(frozen(obs))]
        space = copy.deepcopy(other.action_space)
        space.seed(seed + 9)
        _, info = other.reset(seed=seed + 5)
        for t in range(length):
            obs, reward, terminated, truncated, _ = env.step(frozen(actions[t]))
            moments.append(Moment(frozen(obs), frozen(reward), frozen(terminated), frozen(truncated)))
            if terminated or truncated:
                obs, _ = env.reset()
                moments.append(Moment(frozen(obs)))
            _, _, over, cut, info = other.step(sample(space, info))
            if over or cut:
                _, info = other.reset()
    return moments


def _shared_attribute(fresh: Fresh, run: Callable[[], list[Moment]]) -> str:
    """The attribute of a class whose value an instance leaves behind for the next; empty where it is none of those.

    Runs that differ, and are the same where the classes are put back to what they were in between.
    """
    with fresh() as env:
        kinds = {kind for layer in stack(env) for kind in type(layer).__mro__}
    kinds = {
        each for each in kinds if each.__module__.partition(".")[0] not in ("gymnasium", "builtins", "typing", "abc")
    }
    before = {(kind, name): frozen(value) for kind in kinds for name, value in _data(kind)}
    first = run()
    changed = [
        (kind, name)
        for (kind, name), value in before.items()
        if _told(value) != _told(dict(_data(kind)).get(name, value))
    ]
    for kind, name in changed:
        _put_back(kind, name, before[kind, name])
    if not changed or difference(first, run()) is not None:
        return ""
    kind, name = changed[0]
    return f"{kind.__name__}.{name}"


def _data(kind: type) -> Iterator[tuple[str, Any]]:
    """What a class holds besides its methods, and what those hold as defaults."""
    for name, value in list(vars(kind).items()):
        if inspect.isfunction(value):
            if value.__defaults__:
                yield f"{name}()", value.__defaults__
        elif not name.startswith("__") and not callable(value) and not hasattr(value, "__get__"):
            yield name, value


def _put_back(kind: type, name: str, value: Any) -> None:
    if name.endswith("()"):
        vars(kind)[name[:-2]].__defaults__ = frozen(value)
    else:
        setattr(kind, name, frozen(value))


def _told(value: Any) -> str:
    """A generator is told by its state: it prints as its address."""
    bits = getattr(value, "bit_generator", None)
    return repr(bits.state if bits is not None else value.getstate() if hasattr(value, "getstate") else value)


def stack(env: Env) -> list[Env]:
    """The environment and all it wraps, from the outside."""
    found = [env]
    while isinstance(found[-1], gym.Wrapper):
        found.append(found[-1].env)
    return found


def peeled(env: Env, depth: int) -> Env:
    return stack(env)[depth]


def _different(trajectories: list[list[Moment]]) -> int:
    kinds: list[list[Moment]] = []
    for each in trajectories:
        if not any(_alike(each, known) for known in kinds):
            kinds.append(each)
    return len(kinds)


def _alike(one: list[Moment], other: list[Moment]) -> bool:
    return len(one) == len(other) and all(
        differing(getattr(a, each), getattr(b, each)) is None
        for a, b in zip(one, other, strict=True)
        for each in ("obs", "reward", "terminated", "truncated")
    )


def _many(mask: Any) -> bool:
    return isinstance(mask, (list, tuple)) and any(np.ndim(each) > 0 for each in mask)


def _in_time(deadline: float) -> None:
    if time.perf_counter() > deadline:
        raise OutOfTime
