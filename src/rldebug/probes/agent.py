"""What the ladder asks of an algorithm: `learn(steps)`, and any of `value`, `q`, `policy`.

class MyAgent:
    gamma = 0.99                     # any of gamma, lam, n_step, rollout: what the settings say
    def learn(self, steps): ...      # act and learn for about so many environment steps; called again to go on
    def value(self, obs): ...        # (N, …) observations -> (N,) values
    def q(self, obs): ...            # -> (N, actions) action values
    def policy(self, obs): ...       # -> (N, actions) probabilities, or the greedy actions themselves

def make_agent(make_env):            # make_env() makes an environment, as often as it is called
    return MyAgent(make_env)         # make_env.vector(8): eight as one; make_env.parallel(3): PettingZoo, three agents
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import concatenate, create_empty_array
from numpy.typing import NDArray

from rldebug.probes.environment import ProbeEnv, Step
from rldebug.probes.parallel import parallel
from rldebug.probes.probe import Probe
from rldebug.target import TargetError

Array = NDArray[np.float64]
SETTINGS = ("gamma", "lam", "n_step", "rollout")


class Ended(Exception):
    """It cannot go on learning: says why. Whether it broke down, or came to its own end, after a fair chance or not."""

    def __init__(self, why: str, *, broke: bool = False, had_its_chance: bool = False) -> None:
        super().__init__(why)
        self.broke, self.had_its_chance = broke, had_its_chance


@dataclass(frozen=True)
class Learner:
    """An algorithm on one environment, in the ladder's own terms."""

    learn: Callable[[int], Any]
    value: Callable[[Any], Any] | None = None
    q: Callable[[Any], Any] | None = None
    policy: Callable[[Any], Any] | None = None
    bonus: Callable[[Any], Any] | None = None  # what a soft critic adds in each state: α · entropy
    close: Callable[[], Any] = lambda: None
    updates: Callable[[], int] | None = None  # optimizer steps so far, where it learns in another process
    declared: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Target:
    """What is probed: `make(factory, seed, wants)` builds it anew, on environments that `factory()` makes."""

    name: str
    make: Callable[[Factory, int, frozenset[str]], Learner]
    abilities: frozenset[str] = frozenset()  # normaliser, frames, memory, masks, vector: what it can do


class Factory:
    """Makes environments of one probe; knows what was played on all of them."""

    def __init__(self, probe: Probe, *, obs: str | None = None, action: str | None = None) -> None:
        self.probe, self.obs, self.action = probe, obs, action
        self.log: list[Step] = []
        self.envs: list[ProbeEnv] = []

    def __call__(self) -> ProbeEnv:
        index = len(self.envs)
        env = ProbeEnv(self.probe, obs=self.obs, action=self.action, index=index, played=self.log.append)
        self.envs.append(env)
        return env

    def __getattr__(self, name: str) -> Any:
        if name in ("observation_space", "action_space", "reset", "step", "spec", "unwrapped"):
            raise AttributeError(f"make_agent gets a function that makes environments: make_env().{name}, not .{name}")
        raise AttributeError(name)

    def vector(self, n: int) -> gym.vector.SyncVectorEnv:
        """`n` of them side by side, for agents that can do with any autoreset mode (ability: vector)."""
        modes = {"same-step": AutoresetMode.SAME_STEP, "disabled": AutoresetMode.DISABLED}
        mode = modes.get(self.probe.autoreset or "", AutoresetMode.NEXT_STEP)
        return gym.vector.SyncVectorEnv([self] * n, autoreset_mode=mode)

    def parallel(self, n: int = 3) -> Any:
        """One of PettingZoo's parallel kind, with `n` agents: for algorithms that train several at once."""
        return parallel([self() for _ in range(n)])

    @property
    def sample(self) -> ProbeEnv:
        """One that nobody plays on: for its spaces, and to show states."""
        return ProbeEnv(self.probe, obs=self.obs, action=self.action)


def adapt(agent: Any, name: str) -> Learner:
    """An object with the small protocol above, as the ladder uses it."""
    if not callable(getattr(agent, "learn", None)):
        kind = type(agent).__name__
        raise TargetError(f"{name} returned a {kind} without learn(steps): expected an SB3 model, or an object with it")
    asked = {each: getattr(agent, each, None) for each in ("value", "q", "policy", "bonus", "close")}
    calls = {each: one for each, one in asked.items() if callable(one)}
    settings = {each: getattr(agent, each) for each in SETTINGS if isinstance(getattr(agent, each, None), (int, float))}
    return Learner(learn=agent.learn, declared=settings, **calls)


def batch(env: ProbeEnv, rng: np.random.Generator, times: int) -> Any:
    """Observations of every look, `times` of each, in the order of the looks: (looks × times, …)."""
    rows = [env.show(row, rng) for row in range(len(env.probe.looks)) for _ in range(times)]
    space = env.observation_space
    if isinstance(space, gym.spaces.Box):
        return np.stack(rows)
    empty: Any = create_empty_array(space, len(rows))
    return concatenate(space, rows, empty)
