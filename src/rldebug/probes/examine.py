"""Plays an environment to see how it keeps its contract; `rldebug.evidence.env_contract` has what comes out.

    contract = examine(lambda: MyEnv(size=8), name="MyEnv")

A broken environment does not break this: what raises is a fact like any other.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import io
import itertools
import os
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env

from rldebug.evidence.env_contract import (
    Ending,
    EnvContract,
    Failure,
    Picture,
    Remark,
)
from rldebug.parts.generators import generators_kept
from rldebug.probes.examine_actions import after_end, edges, failure, needs_screen, picture, ranges
from rldebug.probes.examine_handout import (
    Clock,
    Inspector,
    Tally,
    differing,
    frozen,
    kind,
    look_at_flags,
    look_at_reward,
    short,
)
from rldebug.probes.examine_layers import examine_layers, place
from rldebug.probes.examine_seeding import Env, OutOfTime, examine_seeding, sample, set_globals

Checker = Callable[[Env], None]

_STEP = "(obs, reward, terminated, truncated, info)"
_ALIASED = 500  # steps for which observations are kept to see whether they change
_WITHOUT_SCREEN = ("rgb_array", "ansi")


def examine(
    make: Callable[..., Env],
    *,
    name: str,
    steps: int = 4000,
    seed: int = 0,
    seconds: float = 20.0,
    checkers: Sequence[Checker] = (),
    own: bool = True,
) -> EnvContract:
    """Play `steps` random steps and ask what a seed decides, at most for about `seconds`.

    `make` makes a fresh environment each time. `checkers`, and Gymnasium's `own`, are called with a fresh one each;
    what they raise and warn of is recorded. The global generators are left as they were.
    """
    started = time.perf_counter()
    deadline = started + seconds
    with generators_kept(), warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        set_globals(seed)
        workshop = _Workshop(make, deadline)
        facts: dict[str, Any] = {}
        try:
            with workshop.fresh() as env, workshop.fresh() as second:
                facts |= _declared(env)
                facts["same_instance"] = env is second or env.unwrapped is second.unwrapped
                began = time.perf_counter()
                played = _play(env, steps, seed, began + 0.4 * seconds)
            facts |= played.facts()
            soon = time.perf_counter() + 0.1 * seconds
            facts["layers"] = workshop.asked(lambda env: examine_layers(env, seed=seed, deadline=soon)) or ()
            if played.sound:
                rate = played.steps / max(time.perf_counter() - began, 1e-6)
                facts |= _questions(workshop, seed, deadline, int(np.clip(rate * 0.02 * seconds, 10, 100)))
                facts["failures"] = (*facts["failures"], *facts.pop("more_failures", ()))
            facts["pictures"] = _pictures(workshop, seed, deadline)
            facts["remarks"] = _remarks(workshop, (_gymnasium, *checkers) if own else checkers, deadline)
        except (Exception, SystemExit) as error:
            facts["failures"] = (*facts.get("failures", ()), failure("make()", 0, error))
        finally:
            closing = workshop.close()
        facts["failures"] = (*facts.get("failures", ()), *closing)
    return EnvContract(name=name, seconds=time.perf_counter() - started, **facts)


class _Workshop:
    """Makes environments and closes them; one that is handed out twice is closed at the end."""

    def __init__(self, make: Callable[..., Env], deadline: float) -> None:
        self.make = make
        self._deadline = deadline
        self._seen: dict[int, Env] = {}
        self.shared = False
        self._failures: list[Failure] = []

    @contextlib.contextmanager
    def fresh(self, **arguments: Any) -> Iterator[Env]:
        env = self.make(**arguments)
        self.shared = self.shared or id(env) in self._seen
        self._seen[id(env)] = env
        try:
            yield env
        finally:
            if not self.shared:
                self._close(env)
                self._seen.pop(id(env), None)

    def asked(self, question: Callable[[Env], Any]) -> Any:
        """The answer on a fresh environment; None where time is up or it raises: that is said where first seen."""
        if time.perf_counter() > self._deadline:
            return None
        try:
            with self.fresh() as env:
                return question(env)
        except (Exception, SystemExit):
            return None

    def close(self) -> tuple[Failure, ...]:
        for env in self._seen.values():
            self._close(env)
        return tuple(self._failures[:1])

    def _close(self, env: Env) -> None:
        try:
            env.close()
        except (Exception, SystemExit) as error:
            self._failures.append(failure("close()", 0, error))


@dataclass
class _Played:
    """What random play has shown so far."""

    looked: Inspector
    clock: Clock = field(default_factory=Clock)
    steps: int = 0
    failures: list[Failure] = field(default_factory=list)
    structure: Tally = field(default_factory=Tally)
    flags: Tally = field(default_factory=Tally)
    rewards: Tally = field(default_factory=Tally)
    aliased: Tally = field(default_factory=Tally)
    mutated: Tally = field(default_factory=Tally)
    endings: list[tuple[Ending, float]] = field(default_factory=list)  # with its last reward
    usual: tuple[float, float] = (np.inf, -np.inf)  # the range of rewards in mid-episode
    longest: int = 0

    @property
    def sound(self) -> bool:
        """Whether it can be played at all."""
        return not self.failures and not self.structure.all()

    def facts(self) -> dict[str, Any]:
        return {
            "steps": self.steps,
            "failures": tuple(self.failures),
            "structure": self.structure.all(),
            "flags": self.flags.all(),
            "misfits": self.looked.misfits.all(),
            "outside": self.looked.outside,
            "nonfinite": self.looked.nonfinite.all(),
            "rewards": self.rewards.all(),
            "aliased": next(iter(self.aliased.all()), None),
            "mutated": next(iter(self.mutated.all()), None),
            "endings": tuple(
                replace(each, special=not self.usual[0] <= reward <= self.usual[1]) for each, reward in self.endings
            ),
            "longest": self.longest,
            "clock": self.clock.found,
            "pixel_levels": self.looked.pixel_levels,
        }


def _declared(env: Env) -> dict[str, Any]:
    spec = getattr(env.unwrapped, "spec", None)
    registered = gym.registry.get(spec.id) if spec is not None else None
    limit = registered.max_episode_steps if registered is not None else None
    space = env.action_space
    inner = env.unwrapped.action_space  # a wrapper that clips declares no bounds, and keeps those below it
    ends = _bounded(space) | _bounded(inner) if inner.shape == space.shape else _bounded(space)
    return {
        "observation_space": short(env.observation_space),
        "action_space": short(space),
        "where": place(type(env.unwrapped)),
        "limit": limit,
        "unbounded": tuple(f"action[{', '.join(map(str, at))}]" for at in np.argwhere(~ends)[:8]),
    }


def _bounded(space: gym.Space[Any]) -> np.ndarray[Any, Any]:
    return np.isfinite(space.low) & np.isfinite(space.high) if isinstance(space, spaces.Box) else np.ones(1, bool)


def _play(env: Env, steps: int, seed: int, deadline: float) -> _Played:
    played = _Played(Inspector(env.observation_space))
    space = copy.deepcopy(env.action_space)
    space.seed(seed)
    first: int | None = seed
    while played.steps < steps and played.sound and time.perf_counter() < deadline:
        _episode(env, space, first, played, steps, deadline)
        first = None
    return played


def _episode(env: Env, space: gym.Space[Any], seed: int | None, played: _Played, steps: int, deadline: float) -> None:
    call = "reset()" if seed is None else f"reset(seed={seed})"
    try:
        start = env.reset() if seed is None else env.reset(seed=seed)
    except (Exception, SystemExit) as error:
        played.failures.append(_count_of(error, "reset", played) or failure(call, played.steps, error))
        return
    played.structure.of += 1
    if not (isinstance(start, tuple) and len(start) == 2):
        played.structure.add("reset()", _many(start), "(obs, info)", "reset()", 0)
        return
    obs, info = start
    _look_at_info(info, "reset()", 0, played)
    held: list[tuple[Any, Any, str]] = []
    for step in itertools.count():
        _look_at_held(held, played, step)
        played.looked.look(obs, "step()" if step else "reset()", step)
        played.clock.look(obs, step)
        played.longest = max(played.longest, step)
        if played.steps >= steps or time.perf_counter() > deadline:
            return
        if played.steps < _ALIASED:
            held = [(obs, frozen(obs), "step()" if step else "reset()")]
        action = sample(space, info)
        kept = frozen(action)
        played.mutated.of += 1
        try:
            after = env.step(action)
        except (Exception, SystemExit) as error:
            shown = " ".join(str(kept).split())[:60]
            played.failures.append(_count_of(error, "step", played) or failure(f"step({shown})", played.steps, error))
            return
        played.steps += 1
        changed = differing(kept, action, "action", exact=True)
        if changed is not None:
            part, before, now = changed
            played.mutated.add("action", f"{part} was {before}, and {now} after the step", "unchanged", "step()", step)
        played.structure.of += 1
        if not (isinstance(after, tuple) and len(after) == 5):
            played.structure.add("step()", _many(after), _STEP, "step()", step + 1)
            return
        obs, reward, terminated, truncated, info = after
        _look_at_info(info, "step()", step + 1, played)
        look_at_reward(reward, played.rewards, step + 1)
        look_at_flags(terminated, truncated, played.flags, step + 1)
        if _true(terminated) or _true(truncated):
            played.looked.look(obs, "step()", step + 1)
            played.clock.look(obs, step + 1)
            played.longest = max(played.longest, step + 1)
            played.endings.append((Ending(step + 1, _true(terminated), _true(truncated)), _number(reward)))
            return
        played.usual = min(played.usual[0], _number(reward)), max(played.usual[1], _number(reward))


def _look_at_held(held: list[tuple[Any, Any, str]], played: _Played, step: int) -> None:
    played.aliased.of += len(held)
    for obs, copied, call in held:
        changed = differing(copied, obs, exact=True)
        if changed is not None:
            part, before, now = changed
            played.aliased.add("obs", f"{part} was {before}, and {now} one step later", "unchanged", call, step - 1)


def _look_at_info(info: Any, call: str, step: int, played: _Played) -> None:
    if not isinstance(info, dict):
        played.structure.add(f"info of {call}", kind(info), "a dict", call, step)


def _count_of(error: BaseException, call: str, played: _Played) -> Failure | None:
    """A wrapper of Gymnasium's unpacked what it was given before we could count: then the count is what is wrong."""
    wanted = 5 if call == "step" else 2
    text = str(error)
    if not isinstance(error, ValueError) or f"values to unpack (expected {wanted}" not in text:
        return None
    frames = traceback.extract_tb(error.__traceback__)
    if not frames or f"{os.sep}gymnasium{os.sep}" not in frames[-1].filename:
        return None
    got = "too many values" if "too many" in text else text.rpartition("got ")[2].rstrip(")") + " values"
    played.structure.add(f"{call}()", got, _STEP if call == "step" else "(obs, info)", f"{call}()", 0)
    return failure(f"{call}()", played.steps, error)


def _questions(workshop: _Workshop, seed: int, deadline: float, length: int) -> dict[str, Any]:
    """What can be asked of an environment that can be played."""
    facts: dict[str, Any] = {}
    try:
        if not workshop.shared:  # else there is nothing to compare it with
            facts["seeding"] = examine_seeding(workshop.fresh, seed=seed, length=length, deadline=deadline)
    except OutOfTime:
        pass
    except (Exception, SystemExit) as error:
        facts["more_failures"] = (failure("reset() or step() of a second instance", 0, error),)
    tried = workshop.asked(lambda env: edges(env, seed, deadline))
    if tried is not None:
        facts["refused"], facts["refused_of"] = tried
    seeding = facts.get("seeding")
    if seeding is not None and seeding.same_seed is None and not seeding.nondeterministic:
        facts |= workshop.asked(lambda env: ranges(env, seed, deadline)) or {}
    facts["after_end"] = workshop.asked(lambda env: after_end(env, seed, deadline))
    return facts


def _pictures(workshop: _Workshop, seed: int, deadline: float) -> tuple[Picture, ...]:
    modes, made = workshop.asked(lambda env: (env.metadata.get("render_modes") or (), env.render_mode)) or ((), None)
    found = []
    for mode in _WITHOUT_SCREEN:
        if mode not in modes or time.perf_counter() > deadline:
            continue
        arguments = {} if made == mode else {"render_mode": mode}
        try:
            with workshop.fresh(**arguments) as env:
                if not needs_screen(env):
                    found.append(picture(env, mode, seed, deadline))
        except (Exception, SystemExit):  # it is made without a way to say how to render
            continue
    return tuple(found)


def _remarks(workshop: _Workshop, checkers: Sequence[Checker], deadline: float) -> tuple[Remark, ...]:
    found: list[Remark] = []
    for checker in checkers:
        if time.perf_counter() > deadline:
            break
        name = getattr(checker, "__module__", "").partition(".")[0]
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                with workshop.fresh() as env:
                    checker(env)
            except (Exception, SystemExit) as error:
                found.append(Remark(name, type(error).__name__, " ".join(str(error).split())[:300], True))
        texts = dict.fromkeys((each.category.__name__, " ".join(str(each.message).split())[:300]) for each in warned)
        found += [Remark(name, category, text, False) for category, text in texts]
    return tuple(found)


def _gymnasium(env: Env) -> None:
    """Without rendering, and without making others from its registration: those would not be the user's."""
    skips = {"skip_render_check", "skip_close_check"} & set(inspect.signature(check_env).parameters)
    check_env(env, **dict.fromkeys(skips, True))


_gymnasium.__module__ = "gymnasium"


def _many(value: Any) -> str:
    if isinstance(value, tuple):
        return f"{len(value)} values" + (", as gym did before 0.26" if len(value) == 4 else "")
    return kind(value)


def _number(reward: Any) -> float:
    return float(reward) if isinstance(reward, (int, float, np.number)) else 0.0


def _true(flag: Any) -> bool:
    try:
        return bool(flag)
    except Exception:  # an array of several flags
        return bool(np.any(flag))
