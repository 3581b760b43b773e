"""How a state looks, and how an action is given: a probe is one problem, and its encodings are its clothes.

gymnasium.make("rldebug/ObservedReward-v0", obs="image", action="continuous")
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

IMAGE = 36  # pixels a side: the least that the usual three convolutions (8, 4, 3) can take
MIDDLE = slice(IMAGE // 3, 2 * IMAGE // 3)
DOT = 4  # pixels a side
NOISE = 8  # dimensions of noise
OFFSET, SPREAD = 5000.0, 10.0


@dataclass(frozen=True)
class Look:
    """From the number of a look to an observation; `rng` is for what is not told by the state."""

    space: gym.Space[Any]
    show: Callable[[int, np.random.Generator], Any]


@dataclass(frozen=True)
class Choice:
    """From an action of the agent to the number of a choice, or, where the probe has a range, to a number."""

    space: gym.Space[Any]
    read: Callable[[Any], Any]


def look(kind: str, n: int) -> Look:
    """`n` different looks, shown as `kind`."""
    if kind not in LOOKS:
        raise ValueError(f"no way to show a state is called {kind!r}: expected one of {', '.join(LOOKS)}")
    return LOOKS[kind](n)


def choice(kind: str, n: int, bounds: tuple[float, float] | None) -> Choice:
    """`n` choices, or a number within `bounds`, given as `kind`."""
    if kind not in CHOICES:
        raise ValueError(f"no way to give an action is called {kind!r}: expected one of {', '.join(CHOICES)}")
    if bounds is not None:
        if kind != "continuous":
            raise ValueError(f"this probe's actions are numbers: expected action='continuous', not {kind!r}")
        low, high = np.float32(bounds[0]), np.float32(bounds[1])
        box = gym.spaces.Box(low, high, (1,), dtype=np.float32)
        return Choice(box, lambda action: float(np.clip(_one(action), low, high)))
    return CHOICES[kind](n)


# ── looks ──


def _one_hot(n: int) -> Look:
    eye = np.eye(n, dtype=np.float32)
    return Look(gym.spaces.Box(0.0, 1.0, (n,), dtype=np.float32), lambda i, _: eye[i].copy())


def _scalar(n: int) -> Look:
    levels = np.linspace(-1.0, 1.0, n, dtype=np.float32) if n > 1 else np.zeros(1, dtype=np.float32)
    return Look(gym.spaces.Box(-1.0, 1.0, (1,), dtype=np.float32), lambda i, _: levels[i : i + 1].copy())


def _offset(n: int) -> Look:
    """Like one-hot, but far from 0, where ten more or less is little: a network sees it only behind a normaliser."""
    eye = np.eye(n, dtype=np.float32) * np.float32(SPREAD) + np.float32(OFFSET)
    space = gym.spaces.Box(np.float32(OFFSET), np.float32(OFFSET + SPREAD), (n,), dtype=np.float32)
    return Look(space, lambda i, _: eye[i].copy())


def _noisy(n: int) -> Look:
    eye = np.eye(n, dtype=np.float32)

    def show(i: int, rng: np.random.Generator) -> Any:
        return np.concatenate([eye[i], rng.uniform(-1.0, 1.0, NOISE).astype(np.float32)])

    return Look(gym.spaces.Box(-1.0, 1.0, (n + NOISE,), dtype=np.float32), show)


def _image(n: int) -> Look:
    """Black, with a bright square: where it is tells the state. Bytes, channels first."""
    frames = np.zeros((n, 1, IMAGE, IMAGE), dtype=np.uint8)
    side, block = int(np.ceil(np.sqrt(n))), IMAGE // int(np.ceil(np.sqrt(n)))
    for i in range(n):
        top, left = (i // side) * block, (i % side) * block
        frames[i, 0, top : top + block, left : left + block] = 255
    return _pictures(frames)


def _dot(n: int) -> Look:
    """Black, with a bright dot: how far right it is tells the state. Bytes, channels first."""
    frames = np.zeros((n, 1, IMAGE, IMAGE), dtype=np.uint8)
    wide = max(IMAGE // n, 1)
    for i in range(n):
        left = i * wide + max(wide - DOT, 0) // 2
        frames[i, 0, IMAGE // 2 : IMAGE // 2 + DOT, left : left + DOT] = 255
    return _pictures(frames)


def _colour(n: int) -> Look:
    """A square in the middle of a black picture, by whose colour alone the states differ. Bytes, channels last."""
    frames = np.zeros((n, IMAGE, IMAGE, 3), dtype=np.uint8)
    for i in range(n):
        frames[i, MIDDLE, MIDDLE, i % 3] = max(255 - 85 * (i // 3), 0)
    return _pictures(frames)


def _brightness(n: int) -> Look:
    """A square in the middle, in one shade of grey, never black; one in the corner is always the same, to compare with.
    Bytes, channels first."""
    frames = np.zeros((n, 1, IMAGE, IMAGE), dtype=np.uint8)
    frames[:, 0, : IMAGE // 3, : IMAGE // 3] = 160
    for i, level in enumerate(np.linspace(60, 200, n)):  # not 255, which is 1 even where whole numbers are divided
        frames[i, 0, MIDDLE, MIDDLE] = int(level)
    return _pictures(frames)


def _dict(n: int) -> Look:
    """The state is told only by both parts together: the number's two digits."""
    side = int(np.ceil(np.sqrt(n)))
    eye = np.eye(side, dtype=np.float32)
    space = gym.spaces.Dict({"far": _box(side), "near": _box(side)})
    return Look(space, lambda i, _: {"far": eye[i // side].copy(), "near": eye[i % side].copy()})


def _tuple(n: int) -> Look:
    side = int(np.ceil(np.sqrt(n)))
    eye = np.eye(side, dtype=np.float32)
    space = gym.spaces.Tuple((_box(side), _box(side)))
    return Look(space, lambda i, _: (eye[i // side].copy(), eye[i % side].copy()))


def _number(n: int) -> Look:
    return Look(gym.spaces.Discrete(n), lambda i, _: np.int64(i))


LOOKS: dict[str, Callable[[int], Look]] = {
    "one-hot": _one_hot,
    "scalar": _scalar,
    "offset": _offset,
    "noisy": _noisy,
    "image": _image,
    "dot": _dot,
    "colour": _colour,
    "brightness": _brightness,
    "dict": _dict,
    "tuple": _tuple,
    "number": _number,
}


# ── choices ──


def _discrete(n: int) -> Choice:
    return Choice(gym.spaces.Discrete(n), lambda action: _checked(int(_one(action)), n))


def _continuous(n: int) -> Choice:
    """A number from −1 to 1, of which each choice has an equal part."""
    space = gym.spaces.Box(-1.0, 1.0, (1,), dtype=np.float32)
    return Choice(space, lambda action: int(np.clip((_one(action) + 1.0) / 2.0 * n, 0, n - 1)))


def _multi_discrete(n: int) -> Choice:
    """The number of the choice, digit by digit: every digit has a base that divides `n`."""
    bases = _factors(n)
    space = gym.spaces.MultiDiscrete(bases)

    def read(action: Any) -> int:
        digits = np.asarray(action).reshape(-1)
        if len(digits) != len(bases):
            raise ValueError(f"the action has {len(digits)} parts, expected {len(bases)}")
        number = 0
        for digit, base in zip(digits, bases, strict=True):
            number = number * base + _checked(int(digit), base)
        return number

    return Choice(space, read)


CHOICES: dict[str, Callable[[int], Choice]] = {
    "discrete": _discrete,
    "continuous": _continuous,
    "multi-discrete": _multi_discrete,
}


def _pictures(frames: NDArray[np.uint8]) -> Look:
    space = gym.spaces.Box(0, 255, frames.shape[1:], dtype=np.uint8)
    return Look(space, lambda i, _: frames[i].copy())


def _box(n: int) -> gym.spaces.Box:
    return gym.spaces.Box(0.0, 1.0, (n,), dtype=np.float32)


def _one(action: Any) -> float:
    flat = np.asarray(action).reshape(-1)
    if flat.size != 1 or not np.isfinite(flat.astype(float)).all():
        raise ValueError(f"the action is {action!r}, expected one finite number")
    return float(flat[0])


def _checked(action: int, n: int) -> int:
    if not 0 <= action < n:
        raise ValueError(f"the action is {action}, expected 0 to {n - 1}")
    return action


def _factors(n: int) -> list[int]:
    found, rest, factor = [], n, 2
    while rest > 1:
        while rest % factor == 0:
            found.append(factor)
            rest //= factor
        factor += 1
    return found or [1]
