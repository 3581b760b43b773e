"""Frames for a network: what is usual for Atari-like games, and a way to look at what the network sees.

    env = atari_env("ALE/Pong-v5")                # (4, 84, 84) uint8
    env = Inspect(env, n=500, folder="frames")    # every 500th observation as a PNG

Nobody sees a wrong crop, a flicker or a stack in the wrong order in a loss curve: look at a few of the pictures.
"""

from __future__ import annotations

import functools
import struct
import warnings
import zlib
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, Protocol, SupportsFloat, TypeVar, cast

import gymnasium as gym
import numpy as np
import numpy.typing as npt
import torch
from gymnasium.spaces import Box, Discrete
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker

Image = npt.NDArray[Any]
Frame = npt.NDArray[np.uint8]
Info = dict[str, Any]
P = ParamSpec("P")
R = TypeVar("R", covariant=True)


def is_atari(env_id: str) -> bool:
    """Whether the id is that of a game of the Arcade Learning Environment, registered or not."""
    if env_id.startswith("ALE/"):
        return True
    spec = gym.registry.get(env_id)
    return spec is not None and str(spec.entry_point).startswith("ale_py")


def atari_env(env_id: str, *, lives: bool = False, clip: bool = True, **make: Any) -> gym.Env[Any, Any]:
    """Make an Atari game and `preprocess` it. It is made with `frameskip=1`, since the chain skips by itself, and with
    what else is given: `repeat_action_probability` is 0.25 for the -v5 ids unless it is."""
    try:
        import ale_py
    except ImportError as error:
        raise ImportError(f"{env_id} needs the Arcade Learning Environment: pip install 'rldebug[atari]'") from error
    gym.register_envs(ale_py)
    return preprocess(gym.make(env_id, **{"frameskip": 1, **make}), lives=lives, clip=clip)


def preprocess(
    env: gym.Env[Any, Any], *, size: int = 84, skip: int = 4, stack: int = 4, lives: bool = False, clip: bool = True
) -> gym.Env[Any, Any]:
    """The usual chain: `AtariFrames`, then `FrameStack`. Observations are `(stack, size, size)` uint8, newest last.

    An episode is a whole game unless `lives` is set. For evaluation pass `clip=False`: rewards are then the game's own.
    """
    return FrameStack(AtariFrames(env, size=size, skip=skip, lives=lives, clip=clip), stack)


class AtariFrames(gym.Wrapper[Frame, Any, Any, Any]):
    """One observation per `skip` frames of the game: `(size, size)` uint8, or `(size, size, 3)` with `grey=False`.

    - At the start of a game up to `noops` frames of doing nothing, drawn from the environment's own generator
    - An action is held for `skip` frames; rewards add up; what is seen is the larger of the last two frames, since
      sprites flicker (of the last one alone where the game ends before)
    - Grey, and area-averaged to `size`
    - `lives`: a lost life is `terminated`, and `reset()` then goes on with the same game. For training only, and with a
      loop that then resets without a seed, as `Envs` does where `info["life_lost"]` is set: `reset(seed=…)` starts a
      new game, so that only first lives would ever be played
    - `fire`: FIRE is held at each start where the game has it as its second action: some wait for it for ever
    - `clip`: the reward is its sign; the game's own is `info["raw_reward"]`

    The trap in `lives` and `clip`: what an outer wrapper counts as an episode is one life, in clipped rewards. Report
    `info["game_return"]` and `info["game_length"]` instead (raw reward, and steps of this wrapper), which are there in
    the last step of a whole game.

    Takes any environment with `(H, W, 3)` or `(H, W)` uint8 observations. Where it is ALE's own, made with
    `frameskip=1` and with no wrapper in between that could mind, frames go from the emulator straight to here.
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        *,
        size: int = 84,
        skip: int = 4,
        grey: bool = True,
        noops: int = 30,
        lives: bool = True,
        fire: bool = True,
        clip: bool = True,
    ) -> None:
        from rldebug.parts.kernels import resize

        super().__init__(env)
        if skip < 1 or size < 1 or noops < 0:
            raise ValueError(f"AtariFrames: skip {skip} and size {size} must be at least 1, noops {noops} at least 0")
        if getattr(env.unwrapped, "_frameskip", 1) != 1:
            raise ValueError(
                f"AtariFrames: the environment skips frames by itself ({env.unwrapped._frameskip}): they would be "  # type: ignore[attr-defined]
                "skipped twice. Make it with frameskip=1"
            )
        meanings: list[str] = getattr(env.unwrapped, "get_action_meanings", list)()
        if noops and meanings[:1] != ["NOOP"]:
            raise ValueError(
                f"AtariFrames: noops={noops} needs an environment whose get_action_meanings() starts with NOOP; this "
                f"one has {meanings[:1] or 'no such method'}. Pass noops=0"
            )
        self._skip, self._noops, self._lives, self._clip = skip, noops, lives, clip
        self._fire = fire and meanings[1:2] == ["FIRE"]
        self._game: _Emulator | _Environment = (
            _Emulator(env, meanings, grey) if _direct(env) else _Environment(env, grey)
        )
        height, width, channels = self._game.shape
        self._newer = np.zeros((height, width * channels), np.uint8)
        self._older = np.zeros_like(self._newer)
        self._shrink = resize.shrink
        left, columns = resize.overlaps(width, size)
        self._areas = (
            *resize.overlaps(height, size),
            (left[:, None] * channels + np.arange(channels)).reshape(-1),
            np.repeat(columns, channels, axis=1),
            channels,
        )
        self._shape = (size, size, channels) if channels > 1 else (size, size)
        self._cells = (size, size * channels)
        self.observation_space = Box(0, 255, self._shape, np.uint8)
        self._over = True  # no game is under way
        self._going_on = False  # one is, and only a life was lost
        self._left = 0  # lives
        self._return, self._length = 0.0, 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Frame, Info]:
        """Start a game; or, where `lives` ended the last episode, go on with the one that is under way."""
        if self._going_on and seed is None and options is None:
            self._hold(0)
        else:
            self._start(seed, options)
        if self._fire and not self._over:
            self._hold(1)
        if self._over:  # it ended before it began
            self._start(None, None)
        self._going_on = False
        self._left = self._game.lives() if self._lives else 0
        return self._frame(self._newer), self._game.info()

    def step(self, action: Any) -> tuple[Frame, SupportsFloat, bool, bool, Info]:
        reward, terminated, truncated, pooled = self._hold(action)
        self._length += 1
        info = self._game.info()
        info["raw_reward"] = reward
        self._going_on = False
        if self._over:
            info["game_return"], info["game_length"] = self._return, self._length
        elif self._lives:
            left = self._game.lives()
            # Some games show 0 lives for a while before they are over: that is no life to go on with.
            self._going_on = terminated = 0 < left < self._left
            self._left = left
            if self._going_on:
                info["life_lost"] = True
        if self._clip:
            reward = float((reward > 0) - (reward < 0))
        return self._frame(self._older if pooled else self._newer), reward, terminated, truncated, info

    def _start(self, seed: int | None, options: dict[str, Any] | None) -> None:
        self._game.reset(seed, options)
        self._over, self._return, self._length = False, 0.0, 0
        if self._noops:
            for _ in range(int(self.np_random.integers(1, self._noops + 1))):
                reward, terminated, truncated = self._game.act(0)
                self._return += reward
                if terminated or truncated:
                    self._game.reset(None, options)  # not with the seed again: the same would happen
                    self._return = 0.0
        self._game.look(self._newer)

    def _hold(self, action: Any) -> tuple[float, bool, bool, bool]:
        """Hold an action for `skip` frames; the last member says whether two frames were looked at."""
        total = 0.0
        for frame in range(self._skip):
            reward, terminated, truncated = self._game.act(action)
            total += reward
            if terminated or truncated:
                break
            if frame == self._skip - 2:
                self._game.look(self._older)
        self._game.look(self._newer)
        self._over = terminated or truncated
        self._return += total
        return total, terminated, truncated, frame == self._skip - 1 > 0

    def _frame(self, older: Frame) -> Frame:
        out = np.empty(self._cells, np.uint8)
        self._shrink(self._newer, older, *self._areas, out)
        return out.reshape(self._shape)


class _Emulator:
    """A game whose frames are read from ALE, without an observation made for each.

    Reading grey takes ALE a fifth of the time it plays a frame; its screen of palette numbers is there at once, and few
    lines change. The grey of a number is learned from ALE's own grey screen, when the number is first seen.
    """

    def __init__(self, env: gym.Env[Any, Any], meanings: list[str], grey: bool) -> None:
        import ale_py

        from rldebug.parts.kernels import resize

        self._env, self._ale = env, env.unwrapped.ale  # type: ignore[attr-defined]
        self._actions = [getattr(ale_py.Action, each) for each in meanings]
        height, width = self._ale.getScreenDims()
        self.shape = (height, width, 1 if grey else 3)
        self.lives: Callable[[], int] = self._ale.lives
        self._screen = np.zeros((height, width), np.uint8)
        self._words = self._screen.view(np.uint64)
        self._palette = np.full(256, -1, np.int16)
        self._seen: dict[int, npt.NDArray[np.uint64]] = {}  # what each buffer shows
        self._from_palette = resize.from_palette

    def look(self, out: Frame) -> None:
        if self.shape[2] == 3:
            self._ale.getScreenRGB(out.reshape(self.shape))
            return
        self._ale.getScreen(self._screen)
        seen = self._seen.get(id(out))
        if seen is None or not self._from_palette(self._screen, self._words, seen, self._palette, out):
            self._ale.getScreenGrayscale(out)
            self._palette[self._screen] = out
            self._seen[id(out)] = self._words.copy()

    def reset(self, seed: int | None, options: dict[str, Any] | None) -> None:
        self._env.reset(seed=seed, options=options)

    def act(self, action: Any) -> tuple[float, bool, bool]:
        reward = self._ale.act(self._actions[action])
        return reward, self._ale.game_over(with_truncation=False), self._ale.game_truncated()

    def info(self) -> Info:
        return {
            "lives": self._ale.lives(),
            "episode_frame_number": self._ale.getEpisodeFrameNumber(),
            "frame_number": self._ale.getFrameNumber(),
        }


class _Environment:
    """A game whose frames are the observations of an environment."""

    def __init__(self, env: gym.Env[Any, Any], grey: bool) -> None:
        from rldebug.parts.kernels import resize

        space = env.observation_space
        shape = space.shape if isinstance(space, Box) and space.dtype == np.uint8 and space.shape is not None else ()
        if len(shape) not in (2, 3) or (len(shape) == 3 and shape[2] != 3) or (len(shape) == 2 and not grey):
            raise ValueError(
                f"AtariFrames: observations are {space}, expected uint8 of shape (H, W, 3)"
                + (" or (H, W)" if grey else ", since grey=False")
            )
        self._env = env
        self.shape = (*shape[:2], 1 if grey else 3)
        self._greyed = grey and len(shape) == 3
        self._to_grey = resize.to_grey
        self._obs: Any = None
        self._info: Info = {}

    def look(self, out: Frame) -> None:
        flat = np.ascontiguousarray(self._obs).reshape(self.shape[0], -1)
        if self._greyed:
            self._to_grey(flat, out)
        else:
            out[...] = flat

    def lives(self) -> int:
        if "lives" not in self._info:
            raise ValueError("AtariFrames: lives=True needs info['lives'] from the environment. Pass lives=False")
        return int(self._info["lives"])

    def reset(self, seed: int | None, options: dict[str, Any] | None) -> None:
        self._obs, self._info = self._env.reset(seed=seed, options=options)

    def act(self, action: Any) -> tuple[float, bool, bool]:
        self._obs, reward, terminated, truncated, self._info = self._env.step(action)
        return float(reward), bool(terminated), bool(truncated)

    def info(self) -> Info:
        return dict(self._info)


def _direct(env: gym.Env[Any, Any]) -> bool:
    """Whether nothing would notice that `env.step` is not called: ALE, within wrappers that only check."""
    while isinstance(env, OrderEnforcing | PassiveEnvChecker):
        env = env.env
    return type(env).__module__ == "ale_py.env" and isinstance(env.action_space, Discrete)


class FrameStack(gym.Wrapper[Frame, Any, Any, Any]):
    """The last `k` observations as one, `(k, …)`, newest last; after `reset` the first is there k times.

    Each observation is an array of its own: kept in a buffer, it does not change later.
    """

    def __init__(self, env: gym.Env[Any, Any], k: int = 4) -> None:
        super().__init__(env)
        space = env.observation_space
        if k < 1 or not isinstance(space, Box):
            raise ValueError(f"FrameStack: k is {k}, expected at least 1; observations are {space}, expected a Box")
        low, high = np.repeat(space.low[None], k, 0), np.repeat(space.high[None], k, 0)
        self.observation_space = cast(Any, Box(low, high, dtype=cast(Any, space.dtype)))
        self._frames = np.empty((k, *space.shape), space.dtype)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Frame, Info]:
        frame, info = self.env.reset(seed=seed, options=options)
        self._frames[:] = frame
        return self._frames.copy(), info

    def step(self, action: Any) -> tuple[Frame, SupportsFloat, bool, bool, Info]:
        frame, reward, terminated, truncated, info = self.env.step(action)
        self._frames[:-1] = self._frames[1:]
        self._frames[-1] = frame
        return self._frames.copy(), reward, terminated, truncated, info


# ── looking at the output ────────────────────────────────────────────────────────────────────────────────────────────


class Keeping(Protocol[P, R]):
    """A function that keeps some of what it returned: in `kept` are the number of the call, and a copy."""

    kept: deque[tuple[int, Image]]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...


def keep_every(
    n: int, folder: str | Path | None = None, *, limit: int = 200
) -> Callable[[Callable[P, R]], Keeping[P, R]]:
    """Decorate a preprocessing function (image out, numpy or torch) to keep every n-th output, from the first on.

    The newest `limit` are in `function.kept`, as (number, array), and with a `folder` there as PNG files,
    `00000500.png`. Stacked frames are side by side. What is not uint8 is stretched from black to white, with its range
    in the file name: `00000500_from-1_to2.5.png`. Trouble, a full disk say, is warned of once, and never raised.
    """

    def decorate(function: Callable[P, R]) -> Keeping[P, R]:
        keeper = _Keeper(n, folder, limit)

        @functools.wraps(function)
        def keeping(*args: P.args, **kwargs: P.kwargs) -> R:
            result = function(*args, **kwargs)
            keeper.see(result)
            return result

        keeping.kept = keeper.kept  # type: ignore[attr-defined]
        return cast(Keeping[P, R], keeping)

    return decorate


class _Keeper:
    def __init__(self, n: int, folder: str | Path | None, limit: int) -> None:
        if n < 1 or limit < 1:
            raise ValueError(f"keep_every: n is {n} and limit {limit}, expected at least 1")
        self.kept: deque[tuple[int, Image]] = deque(maxlen=limit)
        self._n, self._limit = n, limit
        self._folder = None if folder is None else Path(folder)
        self._files: deque[Path] = deque()
        self._seen = 0
        self._broken = False

    def see(self, result: Any) -> None:
        number, self._seen = self._seen, self._seen + 1
        if number % self._n or self._broken:
            return
        try:
            self._keep(number, result)
        except Exception as error:  # whatever it is, a full disk say, it must not end a training
            self._broken = True
            warnings.warn(f"output {number} could not be kept, and no more will be: {error}", stacklevel=3)

    def _keep(self, number: int, result: Any) -> None:
        if isinstance(result, torch.Tensor):
            result = result.detach().cpu()
            result = (result.float() if result.dtype == torch.bfloat16 else result).numpy()  # numpy has no bfloat16
        image = np.array(result)
        self.kept.append((number, image))
        if self._folder is None:
            return
        pixels, note = picture(image)
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"{number:08d}{note}.png"
        path.write_bytes(png(pixels))
        self._files.append(path)
        if len(self._files) > self._limit:
            self._files.popleft().unlink(missing_ok=True)


class Inspect(gym.Wrapper[Any, Any, Any, Any]):
    """Keep every n-th observation, as `keep_every` does: as the last wrapper it shows what the network sees."""

    def __init__(
        self, env: gym.Env[Any, Any], n: int = 1000, folder: str | Path | None = None, *, limit: int = 200
    ) -> None:
        super().__init__(env)
        shape = env.observation_space.shape
        if shape is None or not 2 <= len(shape) <= 4:
            raise ValueError(f"Inspect: observations are {env.observation_space}, expected images, (H, W) and the like")
        self._keeper = _Keeper(n, folder, limit)

    @property
    def kept(self) -> deque[tuple[int, Image]]:
        return self._keeper.kept

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Info]:
        observation, info = self.env.reset(seed=seed, options=options)
        self._keeper.see(observation)
        return observation, info

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, Info]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._keeper.see(observation)
        return observation, reward, terminated, truncated, info


def picture(image: Image) -> tuple[Frame, str]:
    """An array as something to look at, `(H, W)` or `(H, W, 3)` uint8, and what its values were stretched from, if so.

    `(H, W)`; colour `(H, W, 3)` or `(3, H, W)`; stacked `(k, H, W)`, `(H, W, k)`, `(k, H, W, 3)` or `(k, 3, H, W)`,
    laid side by side; stacks in a batch `(B, k, H, W)`, one below the other, the first 16.
    """
    note = ""
    if image.dtype != np.uint8:
        values = image.astype(np.float64)
        finite = np.isfinite(values)
        low, high = (values[finite].min(), values[finite].max()) if finite.any() else (0.0, 0.0)
        note = f"_from{low:.4g}_to{high:.4g}" + ("" if finite.all() else f"_{(~finite).sum()}-not-finite")
        image = (np.where(finite, values - low, 0.0) * (255.0 / (high - low or 1.0))).round().astype(np.uint8)
    if image.ndim == 3 and image.shape[-1] not in (1, 3) and image.shape[-1] < min(image.shape[:2]):
        image = np.moveaxis(image, -1, 0)  # stacked as channels, last
    if image.ndim >= 3 and image.shape[-1] in (1, 3):
        tiles = image
    elif image.ndim >= 3 and image.shape[-3] in (1, 3):
        tiles = np.moveaxis(image, -3, -1)
    else:
        tiles = image[..., None]
    if not 3 <= tiles.ndim <= 5 or tiles.size == 0:
        raise ValueError(f"an array of shape {image.shape} is no image, nor a stack of them")
    tiles = tiles.reshape((1,) * (5 - tiles.ndim) + tiles.shape)[:16]  # (rows, columns, H, W, channels)
    rows, columns, height, width, channels = tiles.shape
    laid = tiles.transpose(0, 2, 1, 3, 4).reshape(rows * height, columns * width, channels)
    return (laid[..., 0] if channels == 1 else laid), note


def png(pixels: Frame) -> bytes:
    """A PNG file of `(H, W)` grey or `(H, W, 3)` colour pixels."""
    height, width = pixels.shape[:2]
    lines = np.zeros((height, 1 + pixels[0].size), np.uint8)  # each line starts with its filter: none
    lines[:, 1:] = pixels.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, 0 if pixels.ndim == 2 else 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes())), (b"IEND", b""))
    file = b"\x89PNG\r\n\x1a\n"
    for kind, data in chunks:
        file += struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return file
