from typing import ClassVar

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode, VectorEnv
from torch import nn
from torch.distributions import Categorical

from rldebug.rules.environment.end_of_one_lane_restarts_others import EndOfOneLaneRestartsOthers, _rounds
from tests.judge import fires, not_enough, quiet
from tests.watched import watched

rule = EndOfOneLaneRestartsOthers()


class Walks(VectorEnv):
    """Walkers, as rows of two arrays; whoever comes to an end begins anew."""

    metadata: ClassVar = {"autoreset_mode": AutoresetMode.SAME_STEP}

    def __init__(self, whole, lanes=6, limit=40):
        self.whole, self.num_envs, self.limit = whole, lanes, limit
        self.single_observation_space = gymnasium.spaces.Box(-10, 10, (2,), np.float32)
        self.single_action_space = gymnasium.spaces.Discrete(2)
        self.observation_space = gymnasium.vector.utils.batch_space(self.single_observation_space, lanes)
        self.action_space = gymnasium.vector.utils.batch_space(self.single_action_space, lanes)

    def reset(self, *, seed=None, options=None):
        self.rng = np.random.default_rng(seed)
        self.place, self.goal, self.count = np.zeros((3, self.num_envs))
        self._begin(np.ones(self.num_envs, bool))
        return self._look(), {}

    def _begin(self, which):
        self.place[which] = self.rng.uniform(-0.8, 0.8, which.sum())
        self.goal[which] = self.rng.uniform(-1, 1, which.sum())
        self.count[which] = self.rng.integers(0, self.limit // 2, which.sum())

    def _look(self):
        return np.stack([self.place, self.goal], axis=1).astype(np.float32)

    def step(self, actions):
        self.place += 0.05 * (2 * actions - 1) + 0.05 * self.rng.normal(size=self.num_envs).clip(-1, 1)
        self.count += 1
        reward = -np.abs(self.place - self.goal)
        fell, late = np.abs(self.place) > 1, self.count >= self.limit
        ended, info = fell | late, {}
        if ended.any():
            final = np.full(self.num_envs, None, dtype=object)
            for lane in np.flatnonzero(ended):
                final[lane] = self._look()[lane]
            info = {"final_obs": final, "_final_obs": ended}
            self._begin(np.ones_like(ended) if self.whole else ended)
        return self._look(), reward, fell, late, info


def train(env, steps=40, rounds=4):
    torch.manual_seed(0)
    net = nn.Linear(2, 2)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    obs, _ = env.reset(seed=1)
    for _ in range(rounds):
        rows, chosen, paid = [], [], []
        for _ in range(steps):
            seen = torch.as_tensor(obs)
            with torch.no_grad():
                action = Categorical(logits=net(seen)).sample()
            obs, reward, *_ = env.step(action.numpy())
            rows.append(seen), chosen.append(action), paid.append(torch.as_tensor(reward))
        logp = Categorical(logits=net(torch.cat(rows))).log_prob(torch.cat(chosen))
        optimizer.zero_grad()
        (-(logp * torch.cat(paid)).mean()).backward()
        optimizer.step()


def seen(env, **options):
    return watched(lambda: train(env, **options))[1]


def test_fires_where_all_lanes_begin_anew():
    found = fires(rule, seen(Walks(whole=True)))
    assert found.component == "environment"
    assert "none of them is flagged" in found.seen


class Queues(Walks):
    """What is on its way comes two steps later; it lies in an array of its own. Where it ended nobody is told."""

    def reset(self, *, seed=None, options=None):
        self.way = np.zeros((self.num_envs, 2))
        return super().reset(seed=seed, options=options)

    def _begin(self, which):
        super()._begin(which)
        self.way[which] = 0

    def _look(self):
        return np.stack([self.place, self.way[:, 1]], axis=1).astype(np.float32)

    def step(self, actions):
        self.way = np.stack([self.way[:, 1], actions + self.rng.normal(size=self.num_envs)], axis=1)
        whole, self.whole = self.whole, False
        _, reward, fell, late, _ = super().step(actions)
        self.whole = whole
        if whole and (fell | late).any():
            self.way[:] = 0
        return self._look(), reward, fell | late, np.zeros_like(fell), {}


def test_fires_where_a_part_of_all_lanes_is_set_back():
    found = fires(rule, seen(Queues(whole=True), steps=60))
    assert "element 1 is 0" in found.seen
    assert "a part of" in found.message


def test_quiet_where_only_that_of_the_lane_is():
    quiet(rule, seen(Queues(whole=False), steps=60))


@pytest.mark.parametrize("lanes", [2, 6])
def test_quiet_where_each_begins_anew_by_itself(lanes):
    quiet(rule, seen(Walks(whole=False, lanes=lanes), steps=120 if lanes == 2 else 40))


def test_not_enough_where_hardly_any_episode_ends():
    assert "beside the end" in not_enough(rule, seen(Walks(whole=True), steps=3))


def test_an_audit_without_a_step_of_the_environment_has_no_rounds():
    assert not list(_rounds(seen(Walks(whole=False), rounds=2).audits[0].nodes, stream=99))
