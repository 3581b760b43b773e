from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import nn

from rldebug.rules.action_sampling.continuous_action_not_executed import ContinuousActionNotExecuted
from tests.programs.data import found, seen
from tests.watched import watched


def test_fires_where_the_action_without_noise_is_stored() -> None:
    assert found(ContinuousActionNotExecuted(), seen(watched, "ddpg", "no noise"))


@pytest.mark.parametrize("bug", ["", "not clipped", "scaled"])
def test_quiet_where_it_was_scaled_or_clipped_on_the_way(bug: str) -> None:
    assert not found(ContinuousActionNotExecuted(), seen(watched, "ddpg", bug))


class Drift:
    def __init__(self) -> None:
        self.rng = np.random.default_rng(0)

    def reset(self) -> np.ndarray:
        self.t, self.x = 0, self.rng.normal(size=2).astype(np.float32)
        return self.x.copy()

    def step(self, action: float) -> tuple[np.ndarray, float, bool, dict[str, int]]:
        self.t += 1
        self.x = (0.9 * self.x + 0.1 * action + 0.1 * self.rng.normal(size=2)).astype(np.float32)
        return self.x.copy(), -float(np.square(self.x).sum()), self.t == 20, {}


def critic_that_knows_the_time() -> None:
    torch.manual_seed(0)
    env, policy, critic = Drift(), nn.Linear(2, 1), nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
    optimizer = torch.optim.Adam([*policy.parameters(), *critic.parameters()], lr=0.01)
    for _ in range(12):
        states, actions, rewards, end = [env.reset()], [], [], False
        while not end:
            with torch.no_grad():
                actions.append(torch.distributions.Normal(policy(torch.from_numpy(states[-1])), 0.5).sample())
            state, reward, end, _ = env.step(actions[-1].item())
            states.append(state)
            rewards.append(reward)
        obs, left = torch.from_numpy(np.stack(states[:-1])), torch.linspace(-0.8, 0.8, len(rewards))[:, None]
        value = critic(torch.cat([obs, left], 1)).squeeze(1)
        target = torch.tensor(np.cumsum(rewards[::-1])[::-1].copy(), dtype=torch.float32)
        logp = torch.distributions.Normal(policy(obs), 0.5).log_prob(torch.stack(actions)).squeeze(1)
        loss = -(logp * (target - value).detach()).mean() + (value - target).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def test_quiet_where_a_critic_is_given_the_time_beside_the_observation() -> None:
    _, script = watched(critic_that_knows_the_time, overhead_budget=1.0)
    assert not found(ContinuousActionNotExecuted(), script)


class Pair(nn.Module):
    """A critic that takes observation and action side by side, and normalises over the batch."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.BatchNorm1d(3), nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))

    def forward(self, obs: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
        return self.layers(torch.cat([obs, action], 1)).squeeze(1)


def both_halves_in_one_batch(noise_is_stored: bool) -> None:
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    env, policy, critic = Drift(), nn.Sequential(nn.Linear(2, 1), nn.Tanh()), Pair()
    optimizer = torch.optim.Adam(critic.parameters(), lr=0.01)
    state, memory = env.reset(), []
    for step in range(400):
        with torch.no_grad():
            meant = policy(torch.from_numpy(state)).numpy()
        action = np.clip(meant + 0.3 * rng.normal(size=1), -1, 1).astype(np.float32)
        after, reward, end, _ = env.step(action.item())
        memory.append((state, action if noise_is_stored else meant, reward, after, end))
        state = env.reset() if end else after
        if step < 64:
            continue
        rows = [memory[each] for each in rng.integers(0, len(memory), 32)]
        s, a, r, n, e = (torch.from_numpy(np.array(column, dtype=np.float32)) for column in zip(*rows, strict=True))
        with torch.no_grad():
            chosen = policy(n)
        value, value_after = critic(torch.cat([s, n]), torch.cat([a, chosen])).chunk(2)
        loss = nn.functional.mse_loss(value, r + 0.9 * (1 - e) * value_after.detach())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def test_of_two_halves_in_one_batch_only_the_one_that_is_learned_from_counts() -> None:
    rule = ContinuousActionNotExecuted()
    assert not found(rule, watched(lambda: both_halves_in_one_batch(True))[1])
    assert found(rule, watched(lambda: both_halves_in_one_batch(False))[1])


class Wide(gym.Env[Any, Any]):
    observation_space = gym.spaces.Box(-9, 9, (2,))

    def __init__(self, bound: float) -> None:
        self.action_space = gym.spaces.Box(-bound, bound, (1,))
        self.here = Drift()

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        return self.here.reset(), {}

    def step(self, action: Any) -> Any:
        state, reward, end, info = self.here.step(float(action[0]))
        return state, reward, end, False, info


def two_with_bounds_of_their_own() -> None:
    """Both store their actions in -1 … 1."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    for bound in (1.0, 8.0):
        env, policy, critic = Wide(bound), nn.Sequential(nn.Linear(2, 1), nn.Tanh()), Pair()
        optimizer = torch.optim.Adam(critic.parameters(), lr=0.01)
        (state, _), memory = env.reset(), []
        for step in range(300):
            with torch.no_grad():
                meant = policy(torch.from_numpy(state)).numpy()
            action = np.clip(meant + 0.3 * rng.normal(size=1), -1, 1).astype(np.float32)
            after, reward, end, _, _ = env.step(bound * action)
            memory.append((state, action, reward, after, end))
            state = env.reset()[0] if end else after
            if step < 64:
                continue
            rows = [memory[each] for each in rng.integers(0, len(memory), 32)]
            s, a, r, n, e = (torch.from_numpy(np.array(column, dtype=np.float32)) for column in zip(*rows, strict=True))
            with torch.no_grad():
                target = r + 0.9 * (1 - e) * critic(n, policy(n))
            loss = nn.functional.mse_loss(critic(s, a), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def test_quiet_where_two_environments_have_units_of_their_own() -> None:
    assert not found(ContinuousActionNotExecuted(), watched(two_with_bounds_of_their_own)[1])
