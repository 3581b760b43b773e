"""A picture of an environment as it is now, also where it was made without a render mode. Nothing of it is changed.

`render_mode` is set around the call of `render()`, and what that puts into the environment is taken out again and kept
for the next time: surfaces and clocks that the program has not asked for would break a deepcopy of its environment.
"""

from __future__ import annotations

import inspect
import os
import pickle
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from rldebug.capture.env_facts import attribute, lying_in, unwrapped
from rldebug.capture.png import Pixels

_MODE = "rgb_array"
_ABSENT = object()
_HUGE = 1 << 21  # pixels
_QUIET = {"PYGAME_HIDE_SUPPORT_PROMPT": "1", "SDL_AUDIODRIVER": "dummy"}  # pygame greets on stdout, ALSA complains
_VECTORS = {"VectorEnv", "VecEnv"}


class CannotRenderError(Exception):
    """The message says why, and what would help."""


def sub_environment(env: Any) -> Any:
    """What is drawn: the environment itself, or the first of a vector of them."""
    envs = attribute(env, "envs")
    if isinstance(envs, (list, tuple)) and envs:
        return unwrapped(envs[0])
    if any(base.__name__ in _VECTORS for base in type(env).__mro__):
        raise CannotRenderError(
            "its environments are in processes of their own, or played all at once; those of SyncVectorEnv and "
            "DummyVecEnv can be"
        )
    return unwrapped(env)


class Rendering:
    """Of one environment."""

    def __init__(self, env: Any) -> None:
        self.env = sub_environment(env)
        metadata = attribute(self.env, "metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        if getattr(self.env, "render_mode", None) == "human":
            raise CannotRenderError("it was made with render_mode='human', and shows itself")
        if lying_in(type(self.env), "render") is None:
            raise CannotRenderError("it has no render()")
        modes = metadata.get("render_modes") or metadata.get("render.modes")
        if isinstance(modes, (list, tuple)) and modes and _MODE not in modes:
            raise CannotRenderError(f"it renders as {', '.join(map(str, modes))}, and not as {_MODE}")
        if attribute(self.env, "mujoco_renderer") is not None and not (has_display() or os.environ.get("MUJOCO_GL")):
            # Not tried: the second time the process aborts.
            raise CannotRenderError("without a display MuJoCo renders only with MUJOCO_GL=egl in the environment")
        rate = metadata.get("render_fps") or metadata.get("video.frames_per_second") or 30
        self.fps = float(rate) if isinstance(rate, (int, float)) and rate > 0 else 30.0
        self._own: dict[str, tuple[Any, Any]] = {}  # what render() has put there; and what lay there before

    def picture(self) -> Pixels:
        """Raises CannotRender, with the reason."""
        try:
            with _generators_as_they_were(self.env), _quiet(), self._drawing():
                return _pixels(self._render())
        except CannotRenderError:
            raise
        except Exception as error:
            raise CannotRenderError(f"its render() raised {type(error).__name__}: {error}") from error

    def _render(self) -> Any:
        if "mode" in inspect.signature(self.env.render).parameters:
            return self.env.render(mode=_MODE)  # old gym
        return self.env.render()

    @contextmanager
    def _drawing(self) -> Iterator[None]:
        own = getattr(self.env, "__dict__", None)
        if not isinstance(own, dict):
            before = getattr(self.env, "render_mode", None)
            self.env.render_mode = _MODE
            try:
                yield
            finally:
                self.env.render_mode = before
            return
        before = dict(own)
        for name, (theirs, ours) in self._own.items():
            if before.get(name, _ABSENT) is theirs:  # else the program has put another there since
                own[name] = ours
        own["render_mode"] = _MODE
        try:
            yield
        finally:
            changed = {name: each for name, each in own.items() if before.get(name, _ABSENT) is not each}
            for name in changed.keys() - before.keys():
                del own[name]
            own.update({name: each for name, each in before.items() if own.get(name, _ABSENT) is not each})
            changed.pop("render_mode", None)
            self._own = {name: (before.get(name, _ABSENT), each) for name, each in changed.items()}


def _pixels(given: Any) -> Pixels:
    if isinstance(given, list) and given:
        given = given[-1]
    if not isinstance(given, np.ndarray) or given.ndim not in (2, 3) or 0 in given.shape:
        told = "nothing" if given is None else f"a {type(given).__name__}"
        raise CannotRenderError(f"its render() gave {told}, expected an array of bytes (height, width, 3)")
    if given.dtype != np.uint8 or (given.ndim == 3 and given.shape[2] not in (1, 3, 4)):
        raise CannotRenderError(
            f"its render() gave {given.dtype} of shape {given.shape}, expected bytes (height, width, 3)"
        )
    step = int(np.ceil(np.sqrt(given.shape[0] * given.shape[1] / _HUGE)))
    given = given[::step, ::step]
    if given.ndim == 3:
        given = given[:, :, 0] if given.shape[2] == 1 else given[:, :, :3]
    return np.array(given)


@contextmanager
def _generators_as_they_were(env: Any) -> Iterator[None]:
    """Also where a render() draws numbers. They are set only where it did: who seeds them is noted elsewhere."""
    generator = getattr(attribute(env, "_np_random"), "bit_generator", None)
    generators: list[tuple[Callable[[], Any], Callable[[Any], None]]] = [
        (random.getstate, random.setstate),
        (np.random.get_state, np.random.set_state),
        # As an array: to pickle a tensor takes ten times as long.
        (lambda: torch.get_rng_state().numpy(), lambda state: torch.set_rng_state(torch.from_numpy(state))),
    ]
    if generator is not None:
        generators.append((lambda: generator.state, lambda state: setattr(generator, "state", state)))
    before = [get() for get, _ in generators]
    bits = list(map(pickle.dumps, before))
    try:
        yield
    finally:
        for (get, put), state, was in zip(generators, before, bits, strict=True):
            if pickle.dumps(get()) != was:
                put(state)


def has_display() -> bool:
    return sys.platform in ("darwin", "win32") or any(os.environ.get(each) for each in ("DISPLAY", "WAYLAND_DISPLAY"))


@contextmanager
def _quiet() -> Iterator[None]:
    """While pygame may be imported and begun."""
    if "pygame" in sys.modules:
        yield
        return
    wanted = {**_QUIET, **({} if has_display() else {"SDL_VIDEODRIVER": "dummy"})}
    put = [name for name in wanted if name not in os.environ]
    os.environ.update({name: wanted[name] for name in put})
    try:
        yield
    finally:
        for name in put:
            os.environ.pop(name, None)
