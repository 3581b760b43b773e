"""Environments that say only that an episode is over, and tell by their info whether it was the time limit."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.watched import findings, watched
from torch import nn

from rldebug.evidence.script import Script
from rldebug.forensics.targets import fit_targets, limit_untold

GAMMA, LAM, STEPS, LIMIT = 0.9, 0.8, 60, 9


class Old:
    """Drifts; over by chance, or after LIMIT steps."""

    def __init__(self, ends: float) -> None:
        self.rng, self.ends = np.random.default_rng(0), ends

    def reset(self) -> np.ndarray:
        self.x, self.t = self.rng.normal(size=3).astype(np.float32), 0
        return self.x.copy()

    def step(self, action: int) -> tuple[np.ndarray, float, bool, dict[str, bool]]:
        self.x = (0.8 * self.x + 0.3 * action + self.rng.normal(size=3)).astype(np.float32)
        self.t += 1
        fell = bool(self.rng.random() < self.ends)
        late = self.t >= LIMIT and not fell
        return self.x.copy(), float(self.x[0]), fell or late, {"late": late}


def program(ends: float, masked: bool = True, asks: bool = True) -> None:
    torch.manual_seed(0)
    env = Old(ends)
    actor, critic = (nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, n)) for n in (2, 1))
    optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], 1e-2)
    obs = env.reset()
    for _ in range(8):
        rows, actions, rewards, dones = [], [], [], []
        for _ in range(STEPS):
            with torch.no_grad():
                action = int(torch.distributions.Categorical(logits=actor(torch.as_tensor(obs))).sample())
            rows.append(obs)
            obs, reward, done, info = env.step(action)
            if info["late"] and asks:
                with torch.no_grad():
                    reward += GAMMA * critic(torch.as_tensor(obs)).item()
            if done:
                obs = env.reset()
            actions.append(action)
            rewards.append(reward)
            dones.append(float(done))
        seen = torch.as_tensor(np.stack(rows))
        with torch.no_grad():
            value = critic(torch.as_tensor(np.stack([*rows, obs]))).squeeze(-1)
        advantage, carried = torch.zeros(STEPS), torch.zeros(())
        for t in reversed(range(STEPS)):
            goes_on = 1.0 - dones[t] if masked else 1.0
            carried = rewards[t] + GAMMA * goes_on * value[t + 1] - value[t] + GAMMA * LAM * goes_on * carried
            advantage[t] = carried
        policy = torch.distributions.Categorical(logits=actor(seen))
        learned = (critic(seen).squeeze(-1) - (advantage + value[:-1])).square().mean()
        loss = -(policy.log_prob(torch.tensor(actions)) * advantage).mean() + 0.5 * learned
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def seen(ends: float) -> Script:
    return watched(lambda: program(ends))[1]


def test_asking_about_time_limits_alone_is_no_bootstrap_of_ends() -> None:
    script = seen(ends=0.1)
    (fit,) = (each for each in fit_targets(script) if each.what == "value")
    assert fit.gamma == pytest.approx(GAMMA, abs=1e-3)
    assert fit.ending("terminated", "follows", "value", "final") is None


def test_where_all_ends_are_limits_nothing_is_said_of_them() -> None:
    script = seen(ends=0.0)
    assert limit_untold(script)
    (fit,) = (each for each in fit_targets(script) if each.what == "value")
    assert fit.ending("terminated", "follows", "value", "final") is None


def test_ends_that_are_run_over_are_named_all_the_same() -> None:
    assert findings(lambda: program(ends=0.3, masked=False), "DIS300")


def test_a_sum_that_runs_into_the_next_episode_is_wrong_whatever_the_end_was() -> None:
    assert findings(lambda: program(ends=0.0, masked=False, asks=False), "DIS300")
