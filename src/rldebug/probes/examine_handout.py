"""What an environment hands out, beside what it declares: each observation, reward and flag looked at as it comes."""

from __future__ import annotations

import copy
import numbers
from collections.abc import Iterator, Mapping
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from rldebug.evidence.env_contract import Misfit, Outside

Array = np.ndarray[Any, Any]

_CLOCK_ELEMENTS = 64  # of the observation, among which a clock is looked for
_CLOCK_STEPS = 200
_IMAGE = 256  # elements from which on a matrix counts as an image
_IMAGES = 50  # looked at for their levels
_SLACK = 1e-5  # rounding is no departure


class Tally:
    """Misfits of one kind, each kept once with how often it was seen."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], Misfit] = {}
        self._times: dict[tuple[str, str], int] = {}
        self.of = 0

    def add(self, part: str, seen: str, expected: str, call: str, step: int, *, lenient: bool = False) -> None:
        key = (part, seen)
        self._found.setdefault(key, Misfit(part, seen, expected, call, step, 1, 1, lenient))
        self._times[key] = self._times.get(key, 0) + 1

    def all(self) -> tuple[Misfit, ...]:
        """The most frequent first."""
        found = [
            Misfit(**{**vars(misfit), "times": self._times[key], "of": max(self.of, self._times[key])})
            for key, misfit in self._found.items()
        ]
        return tuple(sorted(found, key=lambda each: -each.times))


class Inspector:
    """Compares observations with their space: structure, shape, kind, bounds, finite or not."""

    def __init__(self, space: gym.Space[Any]) -> None:
        self.space = space
        self.misfits = Tally()
        self.nonfinite = Tally()
        self._bounds: dict[str, _Bounds] = {}
        self._images = 0
        self._levels: float | None = 0.0

    def look(self, obs: Any, call: str, step: int) -> None:
        self.misfits.of += 1
        self.nonfinite.of += 1
        self._look(self.space, obs, "obs", call, step)

    @property
    def outside(self) -> tuple[Outside, ...]:
        """The worst first."""
        found = [each for bounds in self._bounds.values() for each in bounds.outside(self.misfits.of)]
        return tuple(sorted(found, key=lambda each: -each.times * max(each.excess, 1e-9)))

    @property
    def pixel_levels(self) -> float | None:
        return self._levels if self._images and self._levels else None

    def _look(self, space: gym.Space[Any], value: Any, part: str, call: str, step: int) -> None:
        if isinstance(space, spaces.Dict):
            if not isinstance(value, Mapping) or set(value) != set(space.spaces):
                seen = f"a dict of {', '.join(map(str, value))}" if isinstance(value, Mapping) else kind(value)
                self.misfits.add(part, seen, f"a dict of {', '.join(map(str, space.spaces))}", call, step)
                return
            for key, inner in space.spaces.items():
                self._look(inner, value[key], f"{part}[{key!r}]", call, step)
        elif isinstance(space, spaces.Tuple):
            if not isinstance(value, (tuple, list)) or len(value) != len(space.spaces):
                seen = f"{kind(value)} of {len(value)}" if isinstance(value, (tuple, list)) else kind(value)
                self.misfits.add(part, seen, f"a tuple of {len(space.spaces)}", call, step)
                return
            for i, inner in enumerate(space.spaces):
                self._look(inner, value[i], f"{part}[{i}]", call, step)
        elif isinstance(space, (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)):
            self._look_at_array(space, value, part, call, step)
        elif not _contains(space, value):
            self.misfits.add(part, kind(value), f"a member of {short(space)}", call, step)

    def _look_at_array(self, space: gym.Space[Any], value: Any, part: str, call: str, step: int) -> None:
        shape = space.shape or ()
        try:
            array = np.asarray(value)
        except Exception:  # a ragged list, a tensor with a gradient
            self.misfits.add(part, kind(value), f"an array of shape {shape}", call, step)
            return
        if array.dtype.kind not in "biuf":
            self.misfits.add(part, f"{kind(value)} of {array.dtype}", f"numbers of {space.dtype}", call, step)
            return
        if array.shape != shape:
            self.misfits.add(part, f"shape {array.shape}", f"shape {shape}", call, step)
            return
        if isinstance(value, (list, tuple)):
            self.misfits.add(part, kind(value), f"an array of shape {shape}", call, step, lenient=True)
        if array.dtype.kind == "f":
            if not isinstance(space, spaces.Box) or space.dtype.kind in "iub":
                self.misfits.add(part, f"{array.dtype}", f"{space.dtype}", call, step)
            wrong = ~np.isfinite(array)
            if wrong.any():
                at = tuple(int(i) for i in np.argwhere(wrong)[0])
                seen = "NaN" if np.isnan(array[at]) else str(array[at])
                self.nonfinite.add(_index(part, at), seen, "a finite number", call, step)
                array = np.where(wrong, np.nan, array)  # said once is enough: NaN is outside of no bounds
            elif array.size >= _IMAGE and array.ndim >= 2 and self._images < _IMAGES:
                self._look_at_levels(array)
        if part not in self._bounds:
            self._bounds[part] = _Bounds(space, part)
        self._bounds[part].look(array)

    def _look_at_levels(self, image: Array) -> None:
        """255 levels divided by 255 once more are multiples of 1 / 255², none above 1 / 255."""
        if self._levels is None:
            return
        self._images += 1
        levels = image.astype(np.float64) * 255.0**2
        largest = float(levels.max())
        whole = largest <= 255.01 and float(levels.min()) >= 0 and bool(np.all(np.abs(levels - np.rint(levels)) < 1e-2))
        self._levels = max(self._levels, largest / 255.0**2) if whole else None


class _Bounds:
    """How often, and how far, each element of one array leaves its bounds."""

    def __init__(self, space: gym.Space[Any], part: str) -> None:
        self._part = part
        self._discrete = not isinstance(space, spaces.Box)
        if isinstance(space, spaces.Box):
            self._low, self._high = space.low.astype(float), space.high.astype(float)
        elif isinstance(space, spaces.Discrete):
            self._low, self._high = np.asarray(float(space.start)), np.asarray(float(space.start + space.n - 1))
        elif isinstance(space, spaces.MultiDiscrete):
            self._low = np.asarray(space.start, float)
            self._high = self._low + space.nvec - 1
        else:
            self._low, self._high = np.zeros(space.shape or ()), np.ones(space.shape or ())
        bytes_ = space.dtype == np.uint8 and np.all(self._low <= 0) and np.all(self._high >= 255)
        self._never = bool(bytes_ or not (np.isfinite(self._low) | np.isfinite(self._high)).any())
        slack = 0.0 if self._discrete else _SLACK
        self._floor = self._low - slack * (1 + np.abs(np.where(np.isfinite(self._low), self._low, 0)))
        self._ceiling = self._high + slack * (1 + np.abs(np.where(np.isfinite(self._high), self._high, 0)))
        self._times: Array = np.zeros(self._low.shape, int)
        self._worst: Array = np.zeros(self._low.shape)
        self._beyond: Array = np.zeros(self._low.shape)

    def look(self, array: Array) -> None:
        if self._never:
            return
        wrong = (array < self._floor) | (array > self._ceiling)
        if not wrong.any():
            return
        beyond = np.where(wrong, np.maximum(self._low - array, array - self._high), 0.0)
        self._times = self._times + wrong
        self._worst = np.where(beyond > self._beyond, array, self._worst)
        self._beyond = np.maximum(self._beyond, beyond)

    def outside(self, of: int) -> Iterator[Outside]:
        for place in np.argwhere(self._times > 0)[:64]:
            at = tuple(int(i) for i in place)
            yield Outside(
                part=_index(self._part, at),
                low=float(self._low[at]),
                high=float(self._high[at]),
                worst=float(self._worst[at]),
                times=int(self._times[at]),
                of=of,
                discrete=self._discrete,
            )


class Clock:
    """Looks for an element of the observation that is the same function of time in every episode, and never repeats."""

    def __init__(self) -> None:
        self._first: dict[int, Array] = {}
        self._could: Array = np.ones(0, bool)
        self._before: Array | None = None
        self._compared = 0

    def look(self, obs: Any, step: int) -> None:
        if step > _CLOCK_STEPS or (self._compared >= _CLOCK_ELEMENTS and not self._could.any()):
            return
        now = flat(obs)
        if now is None:
            return
        if not self._could.size:
            self._could = np.ones(now.size, bool)
        if now.size != self._could.size:
            return
        if step in self._first:
            self._could &= np.abs(now - self._first[step]) <= 1e-6 * np.abs(now) + 1e-9
            self._compared += 1
        else:
            self._first[step] = now
        if step > 0 and self._before is not None:
            self._could &= now != self._before
        self._before = now

    @property
    def found(self) -> str | None:
        """None where nothing can be said: too many elements, or too few steps."""
        if not self._could.size or self._compared < 20:
            return None
        times = sorted(self._first)
        for i in np.flatnonzero(self._could):
            values = [float(self._first[step][i]) for step in times]
            if len(set(values)) == len(values) and len(values) > 5:
                return f"element {i}"
        return ""


def flat(obs: Any) -> Array | None:
    """All numbers of an observation, where they are few."""
    parts = [np.asarray(each, float).reshape(-1) for each in leaves(obs) if np.asarray(each).dtype.kind in "biuf"]
    size = sum(part.size for part in parts)
    return np.concatenate(parts) if parts and size <= _CLOCK_ELEMENTS else None


def leaves(obs: Any) -> Iterator[Any]:
    if isinstance(obs, Mapping):
        for key in sorted(obs, key=str):
            yield from leaves(obs[key])
    elif isinstance(obs, tuple):
        for part in obs:
            yield from leaves(part)
    else:
        yield obs


def look_at_reward(reward: Any, tally: Tally, step: int) -> None:
    tally.of += 1
    if isinstance(reward, (bool, np.bool_, numbers.Real, np.number)):
        if not np.isfinite(float(reward)):
            tally.add("reward", f"{float(reward)}", "a finite number", "step()", step)
        return
    try:
        array = np.asarray(reward, dtype=float)
    except Exception:
        tally.add("reward", kind(reward), "a number", "step()", step)
        return
    if reward is None or isinstance(reward, str):
        tally.add("reward", kind(reward), "a number", "step()", step)
    elif array.ndim > 0:
        tally.add(
            "reward", f"{kind(reward)} of shape {array.shape}", "a number", "step()", step, lenient=array.size == 1
        )
    elif not np.isfinite(array):
        tally.add("reward", f"{float(array)}", "a finite number", "step()", step)


def look_at_flags(terminated: Any, truncated: Any, tally: Tally, step: int) -> None:
    tally.of += 1
    for part, flag in (("terminated", terminated), ("truncated", truncated)):
        if not isinstance(flag, (bool, np.bool_)):
            plain = isinstance(flag, (int, np.integer)) and flag in (0, 1)
            seen = f"{flag!r} ({type(flag).__name__})" if plain or flag is None else kind(flag)
            tally.add(part, seen, "a bool", "step()", step, lenient=plain)


def frozen(value: Any) -> Any:
    """A copy that nobody else changes."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.copy()
    if isinstance(value, (int, float, str, bool, np.generic, type(None))):
        return value
    try:
        return copy.deepcopy(value)
    except Exception:
        return value


def differing(one: Any, other: Any, part: str = "obs", *, exact: bool = False) -> tuple[str, str, str] | None:
    """The first part in which two values differ, and what each has there; rounding is no difference unless `exact`."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        if set(one) != set(other):
            return part, f"keys {', '.join(map(str, one))}", f"keys {', '.join(map(str, other))}"
        found = (differing(one[key], other[key], f"{part}[{key!r}]", exact=exact) for key in one)
        return next(filter(None, found), None)
    if isinstance(one, (tuple, list)) and isinstance(other, (tuple, list)):
        if len(one) != len(other):
            return part, f"{len(one)} parts", f"{len(other)} parts"
        pairs = enumerate(zip(one, other, strict=True))
        return next(filter(None, (differing(a, b, f"{part}[{i}]", exact=exact) for i, (a, b) in pairs)), None)
    try:
        a, b = np.asarray(one), np.asarray(other)
        if a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes():
            return None
        if a.shape != b.shape:
            return part, f"shape {a.shape}", f"shape {b.shape}"
        if a.dtype.kind == "f" or b.dtype.kind == "f":
            tolerance = 0.0 if exact else _SLACK
            same = np.isclose(a, b, rtol=tolerance, atol=tolerance * 1e-3, equal_nan=True)
        else:
            same = np.asarray(a == b)
        if same.all():
            return None
        at = tuple(int(i) for i in np.argwhere(~same)[0]) if same.ndim else ()
        return _index(part, at), _number(a[at]), _number(b[at])
    except Exception:  # what cannot be compared is taken for equal: a doubt is no finding
        return None


def kind(value: Any) -> str:
    name = type(value).__name__
    if value is None:
        return "None"
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def short(space: gym.Space[Any], most: int = 120) -> str:
    text = " ".join(str(space).split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _contains(space: gym.Space[Any], value: Any) -> bool:
    try:
        return bool(space.contains(value))
    except Exception:
        return False


def _index(part: str, at: tuple[int, ...]) -> str:
    return f"{part}[{', '.join(map(str, at))}]" if at else part


def _number(value: Any) -> str:
    return f"{float(value):.6g}" if np.asarray(value).dtype.kind in "biuf" else str(value)
