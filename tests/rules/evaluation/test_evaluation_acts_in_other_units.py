from __future__ import annotations

import gymnasium
import numpy as np
import torch
from torch import nn

from rldebug.rules.evaluation.evaluation_acts_in_other_units import EvaluationActsInOtherUnits
from tests.judge import fires, not_enough, quiet
from tests.watched import watched

rule = EvaluationActsInOtherUnits()


class Slope(gymnasium.Env):
    """A ball that rolls to and fro; the action pushes it."""

    observation_space = gymnasium.spaces.Box(-10, 10, (2,), np.float32)
    action_space = gymnasium.spaces.Box(-2, 2, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = self.np_random.normal(size=2).astype(np.float32)
        return self.at.copy(), {}

    def step(self, action):
        self.at = (0.8 * self.at + [0.1 * action[0], 0] + self.np_random.normal(size=2) * 0.5).astype(np.float32)
        return self.at.copy(), float(-abs(self.at[0])), bool(abs(self.at[0]) > 3), False, {}


def program(factor: float, *, noise: float = 0.1, evaluates: bool = True) -> None:
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1), nn.Tanh())
    optimizer = torch.optim.Adam(net.parameters(), 2e-2)
    env, exam, memory = Slope(), Slope(), []
    obs, _ = env.reset(seed=0)

    def said(seen: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            return np.asarray(net(torch.as_tensor(seen)[None])[0])

    for count in range(120):
        action = 2 * np.clip(said(obs) + noise * rng.normal(size=1), -1, 1)
        memory.append(obs)
        obs, _, terminated, _, _ = env.step(action)
        if terminated:
            obs, _ = env.reset()
        if count % 4 == 3 and count > 12:
            states = torch.as_tensor(np.stack([memory[each] for each in rng.integers(0, len(memory), 16)]))
            loss = (net(states)[:, 0] + 0.4 * states[:, 0]).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if evaluates and count % 40 == 39:
            seen, _ = exam.reset(seed=count)
            for _ in range(60):
                seen, _, _, _, _ = exam.step(factor * said(seen))


def test_fires_where_the_evaluation_forgets_the_scale():
    found = fires(rule, watched(lambda: program(1.0))[1])
    assert found.component == "evaluation"
    assert "1 times" in found.seen


def test_quiet_where_both_scale_alike():
    quiet(rule, watched(lambda: program(2.0))[1])


def test_quiet_where_noise_drowns_the_policy():
    quiet(rule, watched(lambda: program(1.0, noise=0.6))[1])


def test_not_enough_without_an_evaluation():
    assert "executed" in not_enough(rule, watched(lambda: program(2.0, evaluates=False))[1])
