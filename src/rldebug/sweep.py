"""`rldebug sweep`: what healthy algorithms get on an environment, over seeds: a band to compare one's own with."""

from __future__ import annotations

import hashlib
import json
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import gymnasium as gym
import torch

from rldebug.campaign.task import Failed
from rldebug.parts.make import make_env
from rldebug.settings import choose
from rldebug.target import TargetError
from rldebug.train import STEPS, find, names, presets, train

FOLDER = Path(".rldebug", "sweep")
_T = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13)  # two-sided, 5 %
_TEXTS = ("algos", "parts", "train.py", "training.py")  # of which other numbers would follow


@dataclass(frozen=True)
class Reference:
    """One training run of one of our algorithms: a task of a sweep."""

    algorithm: str
    env_id: str
    seed: int
    steps: int
    episodes: int  # of the evaluation
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Another version of what trains is another question."""
        told = json.dumps(asdict(self), sort_keys=True, default=repr)
        return f"{self} {hashlib.sha256((told + _versions()).encode()).hexdigest()[:12]}"

    def __str__(self) -> str:
        return f"{self.algorithm} {self.env_id} seed {self.seed}"


@dataclass(frozen=True)
class Band:
    """What one algorithm gets on one environment."""

    algorithm: str
    env_id: str
    steps: int
    returns: tuple[float, ...]  # by seed: the mean of its evaluation, acting greedily
    while_training: tuple[float, ...]  # by seed: the mean of its last episodes
    random: float | None  # of who acts at random
    seconds: float  # of all seeds

    @property
    def mean(self) -> float:
        return statistics.fmean(self.returns)

    @property
    def interval(self) -> tuple[float, float] | None:
        """In which the mean lies with 95 %; None of one seed."""
        return interval(self.returns)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        between = self.interval
        told = {"mean": self.mean, "interval": between and list(between), "lowest": min(self.returns)}
        return {**asdict(self), **told, "highest": max(self.returns)}


def references(
    algorithms: Iterable[str],
    env_ids: Iterable[str],
    seeds: Iterable[int],
    *,
    steps: int = STEPS,
    episodes: int = 20,
    settings: Mapping[str, Any] | None = None,
) -> list[Reference]:
    """Every algorithm on every environment with every seed. Where no algorithm is named, those that have settings
    known to work there, or else all whose kind of actions it has."""
    named, numbers, found = list(algorithms), list(seeds), []
    for env_id in env_ids:
        here = [each.lower() for each in named] or _fitting(env_id)
        if not here:
            raise TargetError(f"none of {', '.join(names())} has actions like those of {env_id}")
        for algorithm in here:
            choose(find(algorithm).Settings, settings or {})  # a setting that it has not is said before
            found += [Reference(algorithm, env_id, seed, steps, episodes, settings or {}) for seed in numbers]
    return found


def refer(reference: Reference, forked: bool = False) -> dict[str, Any]:
    """Train, and evaluate. Everything random follows from the seed: the same numbers on every machine of a kind."""
    torch.set_num_threads(1)
    trained = train(
        reference.algorithm,
        reference.env_id,
        steps=reference.steps,
        seed=reference.seed,
        settings=reference.settings,
        episodes=reference.episodes,
        quiet=True,
    )
    summary = trained.summary
    return {
        "return": statistics.fmean(summary.greedy) if summary.greedy else None,
        "while_training": summary.returns,
        "random": None if summary.random is None else summary.random.mean,
        "seconds": round(summary.seconds, 1),
    }


def bands(tasks: Sequence[Reference], results: Mapping[str, Any]) -> list[Band]:
    """What is known by now, in the order of the tasks."""
    found: dict[tuple[str, str, int], list[Mapping[str, Any]]] = {}
    for each in tasks:
        result = results.get(each.key)
        if result is not None and not isinstance(result, Failed) and result["return"] is not None:
            found.setdefault((each.algorithm, each.env_id, each.steps), []).append(result)
    return [
        Band(
            *of,
            tuple(each["return"] for each in got),
            tuple(each["while_training"] for each in got if each["while_training"] is not None),
            got[0]["random"],
            round(sum(each["seconds"] for each in got), 1),
        )
        for of, got in found.items()
    ]


def interval(numbers: Sequence[float]) -> tuple[float, float] | None:
    """Student's, of the mean, at 95 %."""
    if len(numbers) < 2:
        return None
    often = len(numbers) - 1
    t = _T[often - 1] if often <= len(_T) else 1.96 + 2.4 / often
    off = t * statistics.stdev(numbers) / math.sqrt(len(numbers))
    mean = statistics.fmean(numbers)
    return mean - off, mean + off


def _fitting(env_id: str) -> list[str]:
    known = [each for each in names() if env_id in presets(each)]
    if known:
        return known
    env = make_env(env_id)
    discrete = isinstance(env.action_space, gym.spaces.Discrete)
    env.close()
    return [each for each in names() if each not in (("sac",) if discrete else ("dqn",))]


@cache
def _versions() -> str:
    root = Path(__file__).resolve().parent
    files = [
        file for each in _TEXTS for file in ((root / each).rglob("*.*") if (root / each).is_dir() else [root / each])
    ]
    told = hashlib.sha256(f"{torch.__version__} {gym.__version__}".encode())
    for file in sorted(each for each in files if each.suffix in (".py", ".toml")):
        told.update(file.read_bytes())
    return told.hexdigest()
