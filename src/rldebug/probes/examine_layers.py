"""What each wrapper of a stack does, read off what goes in below it and comes out above it."""

from __future__ import annotations

import contextlib
import inspect
import itertools
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import wrappers

from rldebug.evidence.env_contract import Layer
from rldebug.finding import Where
from rldebug.probes.examine_handout import Inspector, frozen
from rldebug.probes.examine_seeding import Env, sample, stack

_MOST_CALLS = 400


@dataclass
class Call:
    """One reset or step of one layer, with the calls it made of the layer below."""

    reset: bool
    obs: Any = None
    reward: Any = 0.0
    truncated: bool = False
    ended: bool = False
    episode: bool = False  # whether info tells the return of an episode
    below: list[Call] = field(default_factory=list)


class _Tap(gym.Wrapper[Any, Any, Any, Any]):
    """Sits on top of a layer and notes what comes out; changes nothing."""

    def __init__(self, env: Env, above: _Tap | None) -> None:
        super().__init__(env)
        self.calls: list[Call] = []
        self._above = above
        self._open: Call | None = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        given: dict[str, Any] = {} if seed is None else {"seed": seed}
        call = self._begin(reset=True)
        given |= {} if options is None else {"options": options}  # a layer need not take what it is not given
        obs, info = self.env.reset(**given)
        self._end(call, obs, 0.0, False, False, info)
        return obs, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        call = self._begin(reset=False)
        obs, reward, terminated, truncated, info = self.env.step(action)
        self._end(call, obs, reward, terminated, truncated, info)
        return obs, reward, terminated, truncated, info

    def _begin(self, *, reset: bool) -> Call:
        self._open = Call(reset)
        return self._open

    def _end(self, call: Call, obs: Any, reward: Any, terminated: Any, truncated: Any, info: Any) -> None:
        call.obs, call.reward = frozen(obs), frozen(reward)
        call.truncated, call.ended = bool(truncated), bool(terminated) or bool(truncated)
        call.episode = isinstance(info, Mapping) and isinstance(info.get("episode"), Mapping) and "r" in info["episode"]
        self._open = None
        self.calls.append(call)
        if self._above is not None and self._above._open is not None:
            self._above._open.below.append(call)


def examine_layers(env: Env, *, seed: int, deadline: float) -> tuple[Layer, ...]:
    """From the outside in. Plays a few hundred steps with a tap between any two; `env` is not to be used again."""
    layers = stack(env)
    probed = [_probe(layer) for layer in layers]
    try:
        taps = _tapped(layers)
        _play(taps[0], seed, deadline)
        inspected = [_inspected(layer, tap.calls) for layer, tap in zip(layers, taps, strict=True)]
        seen = [_seen(tap.calls) for tap in taps[:-1]] + [set[str]()]
    except Exception:  # a stack that cannot be tapped, or an environment that fails: said elsewhere
        inspected, seen = [Inspector(layer.observation_space) for layer in layers], [set[str]() for _ in layers]
    return tuple(
        Layer(
            name=type(layer).__name__,
            roles=frozenset(by_probe | by_eye),
            misfit=next(iter(looked.misfits.all()), None),
            outside=next(iter(looked.outside), None),
            takes_seed=_takes_seed(layer),
            known=_known(layer),
            where=place(type(layer)),
        )
        for layer, by_probe, by_eye, looked in zip(layers, probed, seen, inspected, strict=True)
    )


def place(kind: type) -> Where:
    """Where a class is written."""
    try:
        file = inspect.getsourcefile(kind)
        return Where(file=os.path.relpath(file), line=inspect.getsourcelines(kind)[1]) if file else Where()
    except (OSError, TypeError, ValueError):
        return Where()


def _tapped(layers: list[Env]) -> list[_Tap]:
    taps = [_Tap(layers[0], None)]
    for outer, inner in itertools.pairwise(layers):
        taps.append(_Tap(inner, taps[-1]))
        assert isinstance(outer, gym.Wrapper)
        outer.env = taps[-1]
    return taps


def _play(env: Env, seed: int, deadline: float) -> None:
    _, info = env.reset(seed=seed)
    env.action_space.seed(seed)
    for _ in range(_MOST_CALLS):
        if time.perf_counter() > deadline:
            return
        _, _, terminated, truncated, info = env.step(sample(env.action_space, info))
        if terminated or truncated:
            _, info = env.reset()


def _inspected(layer: Env, calls: list[Call]) -> Inspector:
    looked = Inspector(layer.observation_space)
    for step, call in enumerate(calls[:_MOST_CALLS]):
        looked.look(call.obs, "reset()" if call.reset else "step()", step)
    return looked


def _probe(layer: Env) -> set[str]:
    """By what its own function does to numbers that we choose, and for Gymnasium's wrappers by what they are."""
    kinds: dict[type, str] = {
        wrappers.TimeLimit: "limits time",
        wrappers.NormalizeObservation: "normalises observations",
        wrappers.NormalizeReward: "normalises rewards",
        wrappers.ClipReward: "clips rewards",
        wrappers.RecordEpisodeStatistics: "records returns",
        wrappers.FrameStackObservation: "stacks frames",
    }
    known = {role for kind, role in kinds.items() if isinstance(layer, kind)}
    if known:
        return known
    found: set[str] = set()
    with contextlib.suppress(Exception):
        if isinstance(layer, gym.RewardWrapper):
            small, large, larger = (float(layer.reward(each)) for each in (0.01, 1e6, 1e9))
            if large == larger and -float(layer.reward(-1e9)) == -float(layer.reward(-1e6)) and small != large:
                found.add("clips rewards")
            if len({float(layer.reward(1.0)) for _ in range(8)}) > 4:
                found.add("normalises rewards")  # what it gives for 1 depends on what it has seen
    return found


def _seen(calls: list[Call]) -> set[str]:
    """By what went in and what came out."""
    steps = [call for call in calls if not call.reset and call.below]
    if len(steps) < 8:
        return set()
    found: set[str] = set()
    whole = [call for call in steps if not call.ended]
    if whole and np.median([sum(not inner.reset for inner in call.below) for call in whole]) >= 2:
        found.add("skips frames")
    if any(call.truncated and not any(inner.truncated for inner in call.below) for call in steps):
        found.add("limits time")
    if any(call.episode and not any(inner.episode for inner in call.below) for call in steps):
        found.add("records returns")
    single = [call for call in steps if len(call.below) == 1]
    found |= _seen_in_rewards(single)
    return found | _seen_in_observations(calls, single, skips="skips frames" in found)


def _seen_in_rewards(steps: list[Call]) -> set[str]:
    try:
        given = np.array([float(call.below[0].reward) for call in steps])
        out = np.array([float(call.reward) for call in steps])
    except (TypeError, ValueError):
        return set()
    if not given.size or not np.isfinite(given).all() or np.allclose(given, out):
        return set()
    largest = np.abs(out).max()
    clipped = np.allclose(out, np.clip(given, -largest, largest)) and (np.abs(given) > largest).sum() >= 3
    signs = np.array_equal(out, np.sign(given)) and len(set(np.abs(given[given != 0]))) > 1
    return {"clips rewards"} if clipped or signs else set()


def _seen_in_observations(calls: list[Call], single: list[Call], *, skips: bool) -> set[str]:
    arrays = [call for call in (single or calls) if call.below and _plain(call.obs) and _plain(call.below[-1].obs)]
    if len(arrays) < 8:
        return set()
    inner, outer = np.asarray(arrays[0].below[-1].obs), np.asarray(arrays[0].obs)
    found: set[str] = set()
    if _stacks(arrays, inner.shape, outer.shape):
        return {"stacks frames"}
    if inner.ndim >= 3 and inner.shape[-1] == 3 and outer.shape[-1] != 3:
        found.add("makes grey")
    if inner.ndim >= 2 and outer.ndim >= 2 and _plane(inner.shape) != _plane(outer.shape):
        found.add("resizes")
    if inner.shape == outer.shape and not skips:
        factors = [_factor(call) for call in arrays[:50]]
        known = [each for each in factors if each is not None and np.isfinite(each)]
        if known and None not in factors and np.ptp(known) < 1e-4 * abs(known[0]) and not np.isclose(known[0], 1.0):
            found.add("scales observations")
    return found


def _stacks(calls: list[Call], inner: tuple[int, ...], outer: tuple[int, ...]) -> bool:
    """The newest of what comes out is what went in, and some other part is what went in before."""
    size_in, size_out = int(np.prod(inner)), int(np.prod(outer))
    if size_in == 0 or size_out <= size_in or size_out % size_in:
        return False
    k = size_out // size_in
    for axis in {0, len(outer) - 1}:
        if outer[axis] % k:
            continue
        hits = 0
        for before, call in itertools.pairwise(calls):
            parts = [
                each.reshape(inner) for each in np.split(np.asarray(call.obs), k, axis=axis) if each.size == size_in
            ]
            now, then = np.asarray(call.below[-1].obs), np.asarray(before.below[-1].obs)
            if len(parts) == k and any(np.array_equal(parts[i], now) for i in (0, k - 1)):
                hits += any(np.array_equal(each, then) for each in parts[:-1] + parts[1:])
        if hits >= 0.8 * (len(calls) - 1):
            return True
    return False


def _plane(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Height and width: the two largest axes, in order."""
    largest = sorted(range(len(shape)), key=lambda i: -shape[i])[:2]
    return tuple(shape[i] for i in sorted(largest))


def _factor(call: Call) -> float | None:
    """What went in times this is what came out; None where nothing is, NaN where nothing can be said."""
    inner, outer = np.asarray(call.below[-1].obs, float), np.asarray(call.obs, float)
    if not inner.any():
        return float("nan")
    factor = float((inner * outer).sum() / (inner * inner).sum())
    return factor if np.allclose(inner * factor, outer, rtol=1e-4, atol=1e-6 * np.abs(outer).max()) else None


def _plain(obs: Any) -> bool:
    return isinstance(obs, np.ndarray) and obs.dtype.kind in "biuf"


def _takes_seed(layer: Env) -> bool:
    try:
        parameters = inspect.signature(layer.reset).parameters
    except (TypeError, ValueError):
        return True
    return "seed" in parameters or any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values())


def _known(layer: Env) -> bool:
    return type(layer).__module__.partition(".")[0] == "gymnasium"
