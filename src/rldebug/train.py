"""`rldebug train`, and `rldebug.train(...)`: an algorithm, on an environment, from start or checkpoint to summary."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.resources
import os
import pkgutil
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import gymnasium as gym
import torch

from rldebug import algos
from rldebug.checkpoint import TrainingError, read_checkpoint
from rldebug.evidence.baseline import cached, random_return
from rldebug.parts import distributed
from rldebug.parts.make import maker
from rldebug.render.terminal import console
from rldebug.settings import choose, parse_toml
from rldebug.training import Act, Summary, Training

STEPS = 100_000


@dataclasses.dataclass(frozen=True)
class Trained:
    """`act(obs)` takes a batch of observations to a batch of actions, greedily."""

    act: Act
    summary: Summary


def train(
    algorithm: str,
    env: str | Callable[[], gym.Env[Any, Any]] | None = None,
    *,
    steps: int | None = None,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    env_args: Mapping[str, Any] | None = None,
    device: str = "cpu",
    folder: str | Path | None = None,
    resume: str | Path | None = None,
    checkpoint_every: int = 100,
    record: bool = False,
    frames: int = 0,
    episodes: int = 10,
    quiet: bool = False,
) -> Trained:
    """Train `algorithm` ("ppo", "dqn", …) on a Gymnasium id, or on what a function of no arguments makes.

    settings          changes to the algorithm's settings, or to those that are known to work on the environment
    folder            where checkpoints and progress go; without one, nothing is kept
    resume            the folder of a run to go on with: its environment, seed and settings come with it
    record            watch the run with rldebug, and print the diagnosis
    frames            every so many observations of the first environment are kept as pictures in the folder
    """
    module = find(algorithm)
    folder, resume = (None if each is None else Path(each) for each in (folder, resume))
    if isinstance(env, gym.Env):
        raise TrainingError("env is an environment, expected what makes one, since several are needed: its class, say")
    world = distributed.join(device=_device(device))
    if world.size > 1:
        many_processes(algorithm)
        if world.first and not quiet:
            advise_on_threads(int(os.environ.get("LOCAL_WORLD_SIZE", world.size)))
    checkpoint = None
    if resume is not None:
        folder = folder or resume
        checkpoint = read_checkpoint(resume, world.rank)
        env, seed = _as_before(checkpoint, algorithm, env, seed)
        steps = checkpoint["steps"] if steps is None else steps
        chosen = choose(module.Settings, checkpoint["settings"], settings or {})
    elif env is None:
        raise TrainingError("which environment? For example CartPole-v1")
    else:
        known = presets(algorithm).get(env, {}) if isinstance(env, str) else {}
        chosen = choose(module.Settings, known, settings or {})
    env_id = env if isinstance(env, str) else getattr(env, "__name__", "environment")
    pictures = None if folder is None else folder / "frames"
    make: Callable[..., gym.Env[Any, Any]]
    if isinstance(env, str):
        make = maker(env, env_args, frames=frames, folder=pictures)
        for_evaluation: Callable[[], gym.Env[Any, Any]] = partial(make, training=False)
        baseline = partial(cached, env, env_args=env_args, episodes=20)
    else:
        make = for_evaluation = env
        baseline = partial(random_return, env, episodes=20)
    run = Training(
        algorithm,
        env_id,
        steps=STEPS if steps is None else steps,
        settings=chosen,
        make=make,
        by_id=isinstance(env, str),
        make_for_evaluation=for_evaluation,
        baseline=baseline,
        seed=seed,
        folder=folder,
        checkpoint=checkpoint,
        checkpoint_every=checkpoint_every,
        record=record,
        quiet=quiet,
        world=world,
    )
    try:
        act = module.train(run, chosen)
        summary = run.close(act, episodes=episodes)
    finally:
        distributed.leave()
    return Trained(act, summary)


def names() -> list[str]:
    return sorted(each.name for each in pkgutil.iter_modules(algos.__path__))


def find(algorithm: str) -> ModuleType:
    algorithm = algorithm.lower()
    if algorithm not in names():
        raise TrainingError(f"no algorithm called {algorithm}: expected one of {', '.join(names())}")
    return importlib.import_module(f"rldebug.algos.{algorithm}")


def many_processes(algorithm: str) -> bool:
    """Whether it can train in several; says so where it cannot."""
    if not getattr(find(algorithm), "MANY_PROCESSES", False):
        raise TrainingError(f"{algorithm} trains in one process; vpg can use several")
    return True


def advise_on_threads(processes: int) -> None:
    """Where the processes of this machine would get in one another's way, say so before hours are lost to it."""
    advice = distributed.threads_advice(processes)
    if advice is not None:
        console(stderr=True).print(f"slow: {advice}", style="yellow", markup=False)


def presets(algorithm: str) -> dict[str, dict[str, Any]]:
    """Settings known to work, by environment."""
    file = importlib.resources.files(algos).joinpath("presets.toml")
    known: dict[str, dict[str, Any]] = parse_toml(file.read_text(encoding="utf-8"), "presets.toml").get(algorithm, {})
    return known


def _device(name: str) -> torch.device:
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise TrainingError(f"no device {name}: expected cpu, cuda or cuda:1 and the like") from error
    if device.type == "cuda" and not torch.cuda.is_available():
        raise TrainingError(f"{name} was asked for, but torch sees no GPU here")
    return device


def _as_before(checkpoint: Mapping[str, Any], algorithm: str, env: Any, seed: int) -> tuple[Any, int]:
    """A resumed run is the run it was: another algorithm or environment is refused."""
    if checkpoint["algorithm"] != algorithm:
        raise TrainingError(f"the run to resume is of {checkpoint['algorithm']}, not of {algorithm}")
    if env is None and not checkpoint["by_id"]:
        raise TrainingError(f"the run to resume was on what the function {checkpoint['env_id']} makes: pass it as env")
    if env is None or env == checkpoint["env_id"] or callable(env):
        return env or checkpoint["env_id"], checkpoint["seed"]
    raise TrainingError(f"the run to resume is on {checkpoint['env_id']}, not on {env}")
