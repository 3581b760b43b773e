"""What a policy that acts at random gets from an environment: the return that training must at least beat."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import math
import os
import re
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

from rldebug.parts.generators import generators_kept
from rldebug.parts.make import make_env, register, said

FOLDER = Path(".rldebug") / "baselines"
_FORMAT = 1
_RESAMPLES = 10_000
_CUT_OFF = 2  # episodes that do not end, after which no more are played: each costs `most_steps`
_STEP = "(obs, reward, terminated, truncated, info)"


class BaselineError(Exception):
    """The environment could not be made or played; the message says what was expected of it."""


@dataclass(frozen=True)
class Baseline:
    """Returns of a uniformly random policy, undiscounted, of the episodes that ended.

    Where none ended, `mean` and its like are of the part that was played, and `note` says so. `low` and `high` are NaN
    where fewer than two ended.
    """

    env_id: str
    episodes: int  # that ended
    mean: float
    low: float  # 95 % bootstrap interval of the mean
    high: float
    median: float
    length_mean: float
    best: float
    worst: float
    steps: int  # played in all
    note: str = ""  # what the figures leave out; empty where all is well
    seconds: float = field(default=0.0, compare=False)  # spent playing

    @property
    def text(self) -> str:
        """random policy: 22.1 (95 % 20.3 – 24.0, 50 episodes)"""
        mean, low, high = self.in_words
        if self.episodes == 0:
            return f"random policy: {mean} so far (no episode ended within {_spaced(self.length_mean, 0)} steps)"
        if self.episodes == 1:
            return f"random policy: {mean} (1 episode: too few for an interval)"
        if self.low == self.high:
            return f"random policy: {mean} (the same in all {self.episodes} episodes)"
        return f"random policy: {mean} (95 % {low} – {high}, {self.episodes} episodes)"

    @property
    def in_words(self) -> tuple[str, str, str]:
        """Mean, low and high, with as many digits as the interval allows."""
        width = (self.high - self.low) / 2
        if not width > 0:  # also where there is no interval
            return plain(self.mean), plain(self.low), plain(self.high)
        decimals = max(0, 1 - math.floor(math.log10(width)))
        return _spaced(self.mean, decimals), _spaced(self.low, decimals), _spaced(self.high, decimals)

    def to_dict(self) -> dict[str, Any]:
        """For JSON, which has no NaN: None stands for it."""
        return {key: None if value != value else value for key, value in asdict(self).items()}


def plain(number: float) -> str:
    """Four significant digits, in threes: 21.5, -1 213, 1 105 000."""
    if not math.isfinite(number):
        return str(number)
    size = math.floor(math.log10(abs(number))) if number else 0
    text = _spaced(number, min(max(0, 3 - size), 12))
    return text.rstrip("0").rstrip(".") if "." in text else text


def random_return(
    make: Callable[..., gym.Env[Any, Any]] | str,
    *,
    env_args: Mapping[str, Any] | None = None,
    episodes: int = 50,
    seed: int = 0,
    most_steps: int = 50_000,
) -> Baseline:
    """Play `episodes` with `action_space.sample()`; `info["action_mask"]` is honoured.

    `make` is a Gymnasium id, or makes one (not vectorised) environment, from `env_args`. The same seed gives the same
    numbers, and the global generators are as they were, also where the environment draws from them. An episode is cut
    off after `most_steps`, and left out of the figures.
    """
    if episodes < 1 or most_steps < 1:
        raise BaselineError(f"expected at least one episode and one step, got {episodes=} and {most_steps=}")
    # Three streams: with one seed for both, actions and the environment's noise would be the same numbers.
    for_env, for_actions, for_bootstrap = (int(each) for each in np.random.SeedSequence(seed).generate_state(3))
    ended: list[tuple[float, int]] = []
    cut: list[tuple[float, int]] = []
    with generators_kept(for_env):
        env = _made(make, env_args or {})
        name = make if isinstance(make, str) else _name(env)
        started = time.perf_counter()
        try:
            if hasattr(env, "num_envs") or not hasattr(env, "action_space"):
                what = "a vector environment" if hasattr(env, "num_envs") else "no environment"
                raise BaselineError(f"{name} is {what}: expected a single one, as gymnasium.make makes them")
            env.action_space.seed(for_actions)
            for episode in range(episodes):
                total, length, over = _episode(env, name, for_env if episode == 0 else None, most_steps)
                (ended if over else cut).append((total, length))
                if len(cut) == _CUT_OFF:
                    break
        finally:
            with contextlib.suppress(Exception):
                env.close()
    seconds = time.perf_counter() - started
    returns, lengths = np.array(ended or cut, dtype=float).T
    low, high = interval(returns, for_bootstrap) if len(ended) > 1 else (math.nan, math.nan)
    return Baseline(
        env_id=name,
        episodes=len(ended),
        mean=float(returns.mean()),
        low=low,
        high=high,
        median=float(np.median(returns)),
        length_mean=float(lengths.mean()),
        best=float(returns.max()),
        worst=float(returns.min()),
        steps=sum(length for _, length in ended + cut),
        note=_note(len(ended), len(cut), episodes, most_steps),
        seconds=seconds,
    )


def _made(make: Callable[..., gym.Env[Any, Any]] | str, env_args: Mapping[str, Any]) -> gym.Env[Any, Any]:
    if isinstance(make, str):
        return make_env(make, preprocess=False, **env_args)
    try:
        return make(**env_args)
    except Exception as error:
        raise BaselineError(f"the environment could not be made: {said(error)}") from error


def cached(
    env_id: str,
    folder: Path = FOLDER,
    *,
    env_args: Mapping[str, Any] | None = None,
    episodes: int = 50,
    seed: int = 0,
    most_steps: int = 50_000,
) -> Baseline:
    """`random_return`, played once and then read from `folder`.

    Played again when Gymnasium's version changes, or the file in which the environment is written.
    """
    register(env_id)
    key = {
        "format": _FORMAT,
        "env_id": env_id,
        "env_args": json.loads(json.dumps(dict(env_args or {}), sort_keys=True, default=repr)),
        "episodes": episodes,
        "seed": seed,
        "most_steps": most_steps,
        "gymnasium": gym.__version__,
        "source": _source(env_id),
    }
    digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:12]
    file = folder / f"{re.sub(r'[^A-Za-z0-9.-]+', '-', env_id)}-{digest}.json"
    known = _read(file, key)
    if known is not None:
        return known
    found = random_return(env_id, env_args=env_args, episodes=episodes, seed=seed, most_steps=most_steps)
    _write(file, key, found)
    return found


def interval(values: np.ndarray[Any, Any], seed: int = 0) -> tuple[float, float]:
    """The 95 % bootstrap interval of the mean, with a generator of its own."""
    generator = np.random.default_rng(seed)
    rows = max(1, 1_000_000 // len(values))  # at once: all would not fit into memory for thousands of episodes
    sizes = [min(rows, _RESAMPLES - done) for done in range(0, _RESAMPLES, rows)]
    means = [values[generator.integers(len(values), size=(size, len(values)))].mean(axis=1) for size in sizes]
    low, high = np.quantile(np.concatenate(means), (0.025, 0.975))
    return float(low), float(high)


def _episode(env: gym.Env[Any, Any], name: str, seed: int | None, most_steps: int) -> tuple[float, int, bool]:
    """Return, length, and whether it ended by itself."""
    start = _call(name, "reset()", env.reset, seed=seed)
    if not (isinstance(start, tuple) and len(start) == 2 and isinstance(start[1], Mapping)):
        raise BaselineError(f"{name}: reset() returned {_shape(start)}, expected (obs, info) with a dictionary info")
    info, total = start[1], 0.0
    for step in range(1, most_steps + 1):
        action = _sample(env, name, info)
        after = _call(name, "step()", env.step, action)
        if not (isinstance(after, tuple) and len(after) == 5):
            raise BaselineError(f"{name}: step() returned {_shape(after)}, expected five values {_STEP}")
        _, reward, terminated, truncated, info = after
        total += _number(reward, name)
        if terminated or truncated:
            return total, step, True
    return total, most_steps, False


def _sample(env: gym.Env[Any, Any], name: str, info: Mapping[str, Any]) -> Any:
    mask = info.get("action_mask")
    if mask is None:
        return env.action_space.sample()
    try:
        # Gymnasium insists on int8; many environments hand out booleans.
        fitting = tuple(np.asarray(each, np.int8) for each in mask) if _many(mask) else np.asarray(mask, np.int8)
        return env.action_space.sample(fitting)
    except Exception as error:
        raise BaselineError(
            f'{name}: info["action_mask"] does not fit the action space {env.action_space}: {error}'
        ) from error


def _many(mask: Any) -> bool:
    """One mask per part of the action, as MultiDiscrete and Tuple have them."""
    return isinstance(mask, list | tuple) and any(np.ndim(each) > 0 for each in mask)


def _call(name: str, what: str, call: Callable[..., Any], *given: Any, **named: Any) -> Any:
    try:
        return call(*given, **named)
    except ValueError as error:
        # A wrapper of Gymnasium's unpacked it before we could count.
        wrong = re.search(r"values to unpack \(expected 5(?:, got (\d+))?\)", str(error))
        if what == "step()" and wrong:
            count = f"{wrong[1]} values" if wrong[1] else "more than five values"
            old = ", as gym did before 0.26" if wrong[1] == "4" else ""
            raise BaselineError(f"{name}: step() returned {count}{old}, expected five {_STEP}") from error
        raise BaselineError(f"{name}: {what} raised {said(error)}") from error
    except Exception as error:
        raise BaselineError(f"{name}: {what} raised {said(error)}") from error


def _number(reward: Any, name: str) -> float:
    try:
        value = np.asarray(reward, dtype=float)
    except (TypeError, ValueError) as error:
        raise BaselineError(f"{name}: the reward is a {type(reward).__name__}, expected a number") from error
    if value.size != 1:
        raise BaselineError(f"{name}: the reward has shape {value.shape}, expected one number")
    if not np.isfinite(value).all():
        raise BaselineError(f"{name}: the reward is {value.item()}, expected a finite number")
    return float(value.item())


def _shape(value: Any) -> str:
    if isinstance(value, tuple):
        return f"{len(value)} values" + (", as gym did before 0.26" if len(value) == 4 else "")
    return f"a {type(value).__name__}" + (", as gym did before 0.26" if isinstance(value, np.ndarray) else "")


def _name(env: gym.Env[Any, Any]) -> str:
    spec = getattr(env, "spec", None)
    return str(spec.id) if spec is not None else type(getattr(env, "unwrapped", env)).__name__


def _note(ended: int, cut: int, wanted: int, most_steps: int) -> str:
    if not cut:
        return "one episode is too few for an interval" if ended == 1 else ""
    limit = _spaced(most_steps, 0)
    them = f"{cut} episode{'s' if cut > 1 else ''} did not end within {limit} steps and {'were' if cut > 1 else 'was'}"
    if ended == 0:
        return f"{them} cut off: the returns are partial. Give the environment a time limit"
    left = "" if ended + cut == wanted else f" of the {wanted} wanted; no more were played after the second"
    few = "; one is too few for an interval" if ended == 1 else ""
    return f"{them} cut off and left out: the figures are of the {ended} that ended{left}{few}"


def _spaced(number: float, decimals: int) -> str:
    return f"{round(number, decimals) + 0.0:,.{decimals}f}".replace(",", " ")  # + 0.0: no "-0"


def _source(env_id: str) -> str:
    """A digest of the file in which the environment is written; empty where that is not known."""
    try:
        own, _, name = env_id.rpartition(":")
        if own:
            importlib.import_module(own)
        point = gym.spec(name).entry_point
        module = point.partition(":")[0] if isinstance(point, str) else getattr(point, "__module__", "")
        found = sys.modules.get(module) or importlib.util.find_spec(module)
        file = getattr(found, "__file__", None) or getattr(found, "origin", None)
        return hashlib.sha256(Path(file).read_bytes()).hexdigest()[:12] if file else ""
    except Exception:  # an id that is not known is explained where it is made
        return ""


def _read(file: Path, key: Mapping[str, Any]) -> Baseline | None:
    """None where there is none, or none that can be trusted."""
    try:
        stored = json.loads(file.read_text(encoding="utf-8"))
        if stored["key"] != key:
            return None
        values: dict[str, Any] = {
            name: math.nan if value is None else value for name, value in stored["baseline"].items()
        }
        known = Baseline(**values)
        return known if all(isinstance(getattr(known, each), int | float) for each in ("mean", "low", "high")) else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def _write(file: Path, key: Mapping[str, Any], baseline: Baseline) -> None:
    text = json.dumps({"key": key, "baseline": baseline.to_dict()}, indent=1, allow_nan=False)
    part = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(text, encoding="utf-8")
        os.replace(part, file)  # at once: another process may be reading
    except OSError:  # a folder that cannot be written to costs time, not the result
        pass
