"""A probe for several agents: each plays a copy of its own, side by side, with the methods of PettingZoo's ParallelEnv.

What each is paid depends on its own state and action alone: who hands the reward, the observation or the end of one
agent to another learns something else. An agent leaves when its episode ends; the game ends with the last of them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import gymnasium as gym

from rldebug.probes.environment import ProbeEnv

Dicts = tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Any]]


def parallel(envs: Sequence[ProbeEnv]) -> Any:
    """One agent for each. It is a ParallelEnv where the program has imported PettingZoo, which is not needed."""
    library = sys.modules.get("pettingzoo.utils.env")
    bases = (Parallel,) if library is None else (Parallel, library.ParallelEnv)
    return type("ParallelProbe", bases, {})(envs)


class Parallel:
    metadata = {"name": "rldebug_probe_v0", "render_modes": [], "is_parallelizable": True}  # noqa: RUF012
    render_mode = None

    def __init__(self, envs: Sequence[ProbeEnv]) -> None:
        self.possible_agents = [f"agent_{place}" for place in range(len(envs))]
        self.agents: list[str] = []
        self._envs = dict(zip(self.possible_agents, envs, strict=True))

    def observation_space(self, agent: str) -> gym.Space[Any]:
        return self._envs[agent].observation_space

    def action_space(self, agent: str) -> gym.Space[Any]:
        return self._envs[agent].action_space

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        self.agents = self.possible_agents[:]
        seeds = [None if seed is None else seed + place for place in range(len(self.agents))]
        begun = {agent: self._envs[agent].reset(seed=each) for agent, each in zip(self.agents, seeds, strict=True)}
        return {agent: obs for agent, (obs, _) in begun.items()}, {agent: info for agent, (_, info) in begun.items()}

    def step(self, actions: dict[str, Any]) -> Dicts:
        if missing := [each for each in self.agents if each not in actions]:
            raise ValueError(f"no action for {', '.join(missing)}: expected one for each of env.agents")
        made = {agent: self._envs[agent].step(actions[agent]) for agent in self.agents}
        parts: list[dict[str, Any]] = [{agent: result[part] for agent, result in made.items()} for part in range(5)]
        obs, reward, terminated, truncated, info = parts
        self.agents = [each for each in self.agents if not terminated[each] and not truncated[each]]
        return obs, reward, terminated, truncated, info

    def render(self) -> None:
        return None

    def close(self) -> None:
        return None

    @property
    def unwrapped(self) -> Any:
        return self

    @property
    def num_agents(self) -> int:
        return len(self.agents)

    @property
    def max_num_agents(self) -> int:
        return len(self.possible_agents)
