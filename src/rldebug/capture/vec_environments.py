"""Environments of other libraries: the vector environments of Stable-Baselines3, and PettingZoo's parallel ones.

An SB3 environment resets itself within the step: done is told of the episode that ended, its last observation lies in
the info. PettingZoo hands over dictionaries by agent: each agent is a lane, in an order that stays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rldebug.capture.env_calls import GROUP, shared_by
from rldebug.capture.env_facts import attribute, chain, unwrapped
from rldebug.capture.env_results import batch, finals, host
from rldebug.capture.env_watch import Known, Watch
from rldebug.capture.imports import when_imported
from rldebug.capture.switch import Switchboard


class StableBaselines(Watch):
    kind = "sb3-vec"
    methods = {"reset": "reset", "step": "step", "step_async": "send", "step_wait": "wait"}  # noqa: RUF012

    def lanes_of(self, env: Any) -> tuple[int, bool]:
        return int(env.num_envs), True

    def autoreset(self, env: Any) -> str:
        return "same-step"

    def asked_of(self, original: Any, env: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
        # `seed()` leaves them there for the next reset, which forgets them.
        seeds = attribute(unwrapped(env), "_seeds")
        given = isinstance(seeds, list) and any(each is not None for each in seeds)
        return (seeds[0] if len(seeds) == 1 else list(seeds)) if given else None, None

    def quick_results(self, known: Known, action: Any, result: Any) -> tuple[Any, ...] | None:
        if type(result) is not tuple or len(result) != 4 or known.lanes < 2:
            return None
        obs, reward, done, _ = result
        if not type(obs) is type(reward) is type(done) is type(action) is np.ndarray:
            return None
        if not reward.shape == done.shape == action.shape[:1] == obs.shape[:1] == (known.lanes,):
            return None
        if obs.dtype == object or done.dtype != bool or True in done.tolist():
            return None
        return obs, reward, done, done, None, False

    def saw_batch(self, known: Known, env: Any, action: Any, result: Any) -> None:
        lanes = known.lanes
        if not isinstance(result, tuple) or len(result) != 4 or np.size(result[1]) != lanes:
            self.saw_nothing(known)
            return
        obs, reward, done, infos = result
        done = np.asarray(done, dtype=bool)
        cut = np.zeros(lanes, dtype=bool)
        final = None
        if done.any():
            told = [bool(each.get("TimeLimit.truncated", False)) for each in infos]
            cut = done & np.array(told, dtype=bool)
            final = finals(list(infos), done, lanes, None)
        ended = done & ~cut
        action, obs = batch(action, lanes), batch(obs, lanes)
        if lanes == 1:
            self.log.step(known.inner(), action, obs, float(reward[0]), bool(ended[0]), bool(cut[0]), final)
        else:
            self.log.step(known.inner(), action, obs, reward, ended, cut, final)


class PettingZoo(Watch):
    kind = "pettingzoo"

    def lanes_of(self, env: Any) -> tuple[int, bool]:
        return max(len(agents_of(env)), 1), True

    def meet(self, env: Any) -> Known:
        known = super().meet(env)
        known.agents = agents_of(env)
        known.facts["agents"] = [str(each) for each in known.agents]
        return known

    def autoreset(self, env: Any) -> str:
        return "disabled"

    def saw_reset(self, env: Any, result: Any, seed: Any, mask: Any) -> None:
        known = self.known_as(env)
        obs = result[0] if isinstance(result, tuple) else result
        self.log.reset(known.inner(), self.of_lanes(known, obs), seed, known.lanes, mask)
        self.look_at_generator(env, known, seed)

    def saw_batch(self, known: Known, env: Any, action: Any, result: Any) -> None:
        if not isinstance(result, tuple) or len(result) != 5 or not all(isinstance(each, dict) for each in result[:4]):
            self.saw_nothing(known)
            return
        obs, reward, terminated, truncated, _ = result
        agents = known.agents
        # An agent that is out is in none of the dictionaries: no observation, and no number for the reward.
        rewards = np.array([reward.get(each, np.nan) for each in agents], dtype=np.float64)
        ends, cuts = (np.array([bool(given.get(each)) for each in agents]) for given in (terminated, truncated))
        actions, observations = self.of_lanes(known, action), self.of_lanes(known, obs)
        if known.lanes == 1:
            self.log.step(known.inner(), actions, observations, float(rewards[0]), bool(ends[0]), bool(cuts[0]), None)
        else:
            self.log.step(known.inner(), actions, observations, rewards, ends, cuts, None)

    def of_lanes(self, known: Known, given: Any) -> Any:
        by_agent = given if isinstance(given, dict) else {}
        lanes = [observed(host(by_agent.get(each))) for each in known.agents]
        return lanes[0] if known.lanes == 1 else lanes


def observed(obs: Any) -> Any:
    """Beside a mask of actions, what is seen is under a name of its own: that is what networks are given."""
    return obs["observation"] if isinstance(obs, dict) and {"observation", "action_mask"} <= obs.keys() else obs


def agents_of(env: Any) -> list[Any]:
    """All that may ever take part, in an order that stays."""
    for layer in chain(env):
        agents = attribute(layer, "possible_agents")
        if isinstance(agents, (list, tuple)) and agents:
            return list(agents)
    inner = unwrapped(env)
    return list(getattr(inner, "possible_agents", None) or getattr(inner, "agents", None) or [])


def install(switch: Switchboard, log: Any) -> None:
    shared = shared_by(switch, log)
    when_imported(
        switch,
        GROUP,
        "stable_baselines3.common.vec_env.base_vec_env",
        lambda module: StableBaselines(shared).cover(module.VecEnv),
    )
    when_imported(switch, GROUP, "pettingzoo.utils.env", lambda module: PettingZoo(shared).cover(module.ParallelEnv))
