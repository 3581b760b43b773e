"""PettingZoo: environments of several agents, for `rldebug env` and `rldebug probe`.

`together(env)` shows all agents of a parallel environment as one player of a Gymnasium environment: what each sees,
side by side; an action for each; of the rewards a weighted mean, in which those of opponents do not cancel. One that
takes turns (AEC) is converted by PettingZoo. Whoever has the methods of `ParallelEnv` is taken for one.
"""

from __future__ import annotations

import contextlib
import copy
import sys
import warnings
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from rldebug.parts.make import EnvError

_CONVERSIONS = "pettingzoo.utils.conversions"
_CYCLES = 200  # of PettingZoo's own test
_DIGITS = 10


def is_parallel(env: Any) -> bool:
    return _has_agents(env) and not callable(getattr(env, "agent_iter", None))


def takes_turns(env: Any) -> bool:
    """Whether it is an AEC environment: the agents act one after the other."""
    return _has_agents(env) and callable(getattr(env, "agent_iter", None)) and callable(getattr(env, "last", None))


def _has_agents(env: Any) -> bool:
    spaces_asked = callable(getattr(env, "observation_space", None)) and callable(getattr(env, "action_space", None))
    return spaces_asked and not isinstance(env, gym.Env) and hasattr(env, "possible_agents")


def in_parallel(env: Any) -> Any:
    """An environment that takes turns, as one in which all act at once."""
    from pettingzoo.utils.conversions import aec_to_parallel, turn_based_aec_to_parallel

    if env.metadata.get("is_parallelizable", False):
        return aec_to_parallel(env)
    return turn_based_aec_to_parallel(env)


def together(env: Any) -> Together:
    """All agents as one. The class has the name of the environment's own, by which reports call it."""
    name = type(getattr(env, "unwrapped", env)).__name__
    return type(name, (Together,), {"__module__": Together.__module__})(env)  # type: ignore[no-any-return]


class Together(gym.Env[Any, Any]):
    def __init__(self, env: Any) -> None:
        self.parallel = env
        agents = self.agents = list(env.possible_agents)
        if not agents:
            raise EnvError(f"{type(env).__name__} has no possible_agents: expected all that may ever take part")
        self.metadata = {"render_modes": []}
        self._seen_by = {str(each): _space(env, "observation_space", each) for each in agents}
        self.observation_space = spaces.Dict(self._seen_by)
        self._acted = [_space(env, "action_space", each) for each in agents]
        self.action_space, self._split = _joined(agents, self._acted)
        self._shown: dict[str, Any] = {}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        given: dict[str, Any] = {} if seed is None else {"seed": seed}
        result = self.parallel.reset(**given, **({} if options is None else {"options": options}))
        if not (isinstance(result, tuple) and len(result) == 2 and isinstance(result[0], dict)):
            return result
        obs, infos = result
        self._shown = {}
        return self._seen(obs), self._info(obs, infos)

    def step(self, action: Any) -> Any:
        there = list(self.parallel.agents)
        given = self._split(action)
        result = self.parallel.step({each: given[each] for each in there if each in given})
        if not (isinstance(result, tuple) and len(result) == 5 and all(isinstance(each, dict) for each in result)):
            return result
        obs, rewards, terminated, truncated, infos = result
        ended = [each for each in there if _true(terminated.get(each)) or _true(truncated.get(each))]
        # Where a flag is set for all, but nobody leaves, it is over all the same.
        over = not self.parallel.agents or len(ended) == len(there)
        for_good = over and any(_true(terminated.get(each)) for each in there)
        return self._seen(obs), self._reward(rewards), for_good, over and not for_good, self._info(obs, infos)

    def close(self) -> None:
        self.parallel.close()

    def _seen(self, obs: dict[Any, Any]) -> dict[str, Any]:
        """An agent that is out is shown as it was seen last: one that was never there, as zeros."""
        for agent in self.agents:
            if agent in obs:
                self._shown[str(agent)] = obs[agent]
            elif str(agent) not in self._shown:
                self._shown[str(agent)] = _zeros(self._seen_by[str(agent)])
            else:
                self._shown[str(agent)] = copy.deepcopy(self._shown[str(agent)])
        return dict(self._shown)

    def _reward(self, rewards: dict[Any, Any]) -> Any:
        total = share = 0.0
        for place, agent in enumerate(self.agents):
            reward = rewards.get(agent, 0.0)
            if isinstance(reward, bool) or not isinstance(reward, (int, float, np.number)):
                return reward  # as it came: that it is no number is to be seen
            weight = 1.0 - 0.5 * place / len(self.agents)
            total, share = total + weight * float(reward), share + weight
        mean = total / share
        return float(f"{mean:.{_DIGITS}g}")  # all the same, it is that number

    def _info(self, obs: dict[Any, Any], infos: Any) -> dict[str, Any]:
        masks = [_mask(obs.get(each), infos.get(each) if isinstance(infos, dict) else None) for each in self.agents]
        if all(each is None for each in masks) or not isinstance(self.action_space, spaces.MultiDiscrete):
            return {}
        full = [np.ones(int(each), np.int8) for each in self.action_space.nvec]
        return {"action_mask": tuple(full[i] if mask is None else mask for i, mask in enumerate(masks))}


def checkers(env: Together) -> list[Callable[[Any], None]]:
    """PettingZoo's own test, for an environment that is a ParallelEnv of its own; called with what `together` made."""
    base = sys.modules.get("pettingzoo.utils.env")
    inner = getattr(env.parallel, "unwrapped", None)
    if base is None or not isinstance(inner, base.ParallelEnv) or type(inner).__module__ == _CONVERSIONS:
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it imports games that say they are deprecated
        from pettingzoo.test.parallel_test import parallel_api_test

    def check(env: Together) -> None:
        parallel_api_test(env.parallel, num_cycles=_CYCLES)

    check.__module__ = "pettingzoo"
    return [check]


def _space(env: Any, name: str, agent: Any) -> gym.Space[Any]:
    space = getattr(env, name)(agent)
    if not isinstance(space, gym.Space):
        raise EnvError(f"{name}({agent!r}) is a {type(space).__name__}: expected a space of gymnasium.spaces")
    return copy.deepcopy(space)


def _joined(agents: list[Any], acted: list[gym.Space[Any]]) -> tuple[gym.Space[Any], Callable[[Any], dict[Any, Any]]]:
    """One space for the actions of all, and what takes an action apart."""
    if all(isinstance(each, spaces.Discrete) for each in acted):
        joined: gym.Space[Any] = spaces.MultiDiscrete([int(each.n) for each in acted])  # type: ignore[attr-defined]

        def apart(action: Any) -> dict[Any, Any]:
            whole = [int(one) + int(each.start) for one, each in zip(action, acted, strict=True)]  # type: ignore[attr-defined]
            return dict(zip(agents, whole, strict=True))

        return joined, apart
    if all(isinstance(each, spaces.Box) and each.dtype == acted[0].dtype for each in acted):
        low, high = (np.concatenate([np.ravel(getattr(each, end)) for each in acted]) for end in ("low", "high"))
        ends = np.cumsum([int(np.prod(each.shape or ())) for each in acted])[:-1]

        def cut(action: Any) -> dict[Any, Any]:
            parts = np.split(np.asarray(action), ends)
            shaped = [part.reshape(each.shape or ()) for part, each in zip(parts, acted, strict=True)]
            return dict(zip(agents, shaped, strict=True))

        return spaces.Box(low, high, dtype=acted[0].dtype.type), cut  # type: ignore[union-attr]
    named = spaces.Dict({str(agent): each for agent, each in zip(agents, acted, strict=True)})
    return named, lambda action: {agent: action[str(agent)] for agent in agents}


def _mask(seen: Any, told: Any) -> Any:
    for each in (seen, told):
        if isinstance(each, dict) and "action_mask" in each:
            with contextlib.suppress(Exception):
                return np.asarray(each["action_mask"], np.int8)
    return None


def _zeros(space: gym.Space[Any]) -> Any:
    from gymnasium.vector.utils import create_empty_array

    if isinstance(space, spaces.Discrete):
        return space.start
    empty: Any = create_empty_array(space, 1, fn=np.zeros)
    return _first(empty)


def _first(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _first(each) for key, each in value.items()}
    return tuple(map(_first, value)) if isinstance(value, tuple) else value[0]


def _true(flag: Any) -> bool:
    return bool(np.any(flag)) if flag is not None else False
