"""From a name to an environment: Gymnasium's ids, `module:id` for one's own, Atari's through its preprocessing."""

from __future__ import annotations

import ast
import importlib
import os
import re
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

_EXTRAS = {"mujoco": "MuJoCo", "box2d": "Box2D"}


class EnvError(Exception):
    """An environment that cannot be made: says why, and what to install where that would help."""


def make_env(env_id: str, *, preprocess: bool = True, training: bool = True, **arguments: Any) -> gym.Env[Any, Any]:
    """`gymnasium.make`, with what is missing said in words; `Id?key=value&other=value` has arguments in its name.

    An Atari game comes as stacked grey frames of 84 × 84, for training with clipped rewards.
    """
    env_id, named = arguments_in(env_id)
    arguments = {**named, **arguments}
    # A module of the user's lies in the folder they stand in, which an installed command does not look into by itself.
    if ":" in env_id and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    atari = register(env_id)
    try:
        if atari and preprocess:
            from rldebug.parts.preprocess import atari_env

            made: gym.Env[Any, Any] = atari_env(env_id, clip=training, **arguments)
        else:
            # Its checker complains of observations outside the space, and hides what step() returned.
            made = gym.make(env_id, disable_env_checker=True, **arguments)
    except (gym.error.Error, ImportError) as error:
        raise EnvError(_why_not(env_id, error)) from error
    except Exception as error:
        raise EnvError(f"{env_id} could not be made: {said(error)}") from error
    return made


def arguments_in(env_id: str) -> tuple[str, dict[str, Any]]:
    """`Id?gravity=5&obs=image` -> `Id` and {"gravity": 5, "obs": "image"}."""
    plain, _, query = env_id.partition("?")
    named: dict[str, Any] = {}
    for pair in filter(None, query.split("&")):
        key, equals, value = pair.partition("=")
        if not equals or not key.isidentifier():
            raise EnvError(f"{env_id}: {pair!r} is no argument, expected key=value")
        try:
            named[key] = ast.literal_eval(value)
        except (ValueError, SyntaxError):  # a word
            named[key] = value
    return plain, named


def register(env_id: str) -> bool:
    """Atari's ids are known only when its package has been told of. Whether it is one."""
    if not env_id.startswith("ALE/") and "NoFrameskip-" not in env_id:
        return False
    try:
        gym.register_envs(importlib.import_module("ale_py"))
    except ImportError as error:
        raise EnvError(f"{env_id} needs the Atari emulator: pip install 'rldebug[atari]'") from error
    return True


def maker(
    env_id: str, arguments: Mapping[str, Any] | None = None, *, frames: int = 0, folder: Path | None = None
) -> Callable[..., gym.Env[Any, Any]]:
    """A function that makes the environment: `make()` for training, `make(training=False)` for evaluation.

    Tried once here, so that what is wrong with it is said at once. `frames`: every so many observations of the first
    environment made are kept as pictures in `folder`.
    """
    try_out(make_env(env_id, **(arguments or {})), env_id)
    made = []

    def make(*, training: bool = True) -> gym.Env[Any, Any]:
        env = make_env(env_id, training=training, **(arguments or {}))
        made.append(env_id)
        if frames and folder is not None and len(made) == 1:
            from rldebug.parts.preprocess import Inspect

            try:
                env = Inspect(env, frames, folder)
            except ValueError as error:  # its observations are no images
                raise EnvError(str(error)) from error
        return env

    return make


def try_out(env: gym.Env[Any, Any], name: str) -> None:
    """One reset and one step: what breaks Gymnasium's contract is said here, in words. Closes the environment."""
    try:
        start = env.reset(seed=0)
        if not (isinstance(start, tuple) and len(start) == 2):
            raise EnvError(f"{name}: reset() returned {_count(start)}, expected (obs, info)")
        env.action_space.seed(0)
        after = env.step(env.action_space.sample())
        if not (isinstance(after, tuple) and len(after) == 5):
            raise EnvError(
                f"{name}: step() returned {_count(after)}, expected (obs, reward, terminated, truncated, info)"
            )
    except EnvError:
        raise
    except ValueError as error:
        wrong = re.search(r"values to unpack \(expected (\d)(?:, got (\d+))?\)", str(error))
        if wrong is None:
            raise EnvError(f"{name} could not be played: {said(error)}") from error
        got = f"{wrong[2]} values" if wrong[2] else "too many values"  # a wrapper of Gymnasium's counted before us
        what = "step()" if wrong[1] == "5" else "reset()"
        raise EnvError(f"{name}: {what} returned {got}, expected {wrong[1]}: see gymnasium.Env.{what[:-2]}") from error
    except Exception as error:
        raise EnvError(f"{name} could not be played: {said(error)}") from error
    finally:
        env.close()
    for obs, what in ((start[0], "reset()"), (after[0], "step()")):
        wrong_part = _mismatch(env.observation_space, obs)
        if wrong_part:
            raise EnvError(f"{name}: {what} returned an observation that is not in its observation_space: {wrong_part}")


def _mismatch(space: gym.Space[Any], obs: Any, where: str = "obs") -> str | None:
    """By structure, shape and kind; values may lie outside the bounds, as they do in many sound environments."""
    if isinstance(space, gym.spaces.Dict):
        if not isinstance(obs, Mapping) or set(obs) != set(space.spaces):
            return f"{where} is {_kind(obs)}, expected a dict of {', '.join(space.spaces)}"
        return next(filter(None, (_mismatch(part, obs[key], f"{where}[{key!r}]") for key, part in space.items())), None)
    if isinstance(space, gym.spaces.Tuple):
        if not isinstance(obs, (tuple, list)) or len(obs) != len(space.spaces):
            return f"{where} is {_kind(obs)}, expected a tuple of {len(space.spaces)}"
        parts = enumerate(zip(space.spaces, obs, strict=True))
        return next(filter(None, (_mismatch(part, each, f"{where}[{i}]") for i, (part, each) in parts)), None)
    if space.shape is not None and np.shape(obs) != space.shape:
        return f"{where} has shape {np.shape(obs)}, expected {space.shape}"
    return None


def _kind(obs: Any) -> str:
    return f"a dict of {', '.join(map(str, obs))}" if isinstance(obs, Mapping) else f"a {type(obs).__name__}"


def _count(returned: Any) -> str:
    if isinstance(returned, tuple):
        return f"{len(returned)} values" + (", as gym did before 0.26" if len(returned) == 4 else "")
    return f"a {type(returned).__name__}"


def said(error: BaseException) -> str:
    """The error, and the line it came from: the last one that is no library's, where there is one."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [each for each in frames if "site-packages" not in each.filename and "/lib/python" not in each.filename]
    last = (own or frames)[-1:]
    where = f" ({os.path.relpath(last[0].filename)}:{last[0].lineno})" if last else ""
    return f"{type(error).__name__}: {' '.join(str(error).split())}{where}"


def _why_not(env_id: str, error: Exception) -> str:
    if isinstance(error, (ModuleNotFoundError, gym.error.DependencyNotInstalled)):
        spec = gym.registry.get(env_id)
        for extra, what in _EXTRAS.items():
            if spec is not None and extra in str(spec.entry_point):
                return f"{env_id} needs {what}: pip install 'rldebug[{extra}]'"
    return f"{env_id} could not be made: {' '.join(str(error).split())}".replace("`", "'")
