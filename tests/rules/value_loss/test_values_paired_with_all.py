import gymnasium
import numpy as np
import torch
from torch import nn

from tests.programs.policies import found, ppo
from tests.watched import findings

CODE = "VAL330"


def test_fires_where_values_are_a_column():
    (finding,) = findings(lambda: ppo("value pairs"), CODE, overhead_budget=1.0)
    assert finding.component == "value-loss"
    assert finding.seen


def test_quiet_where_both_are_rows():
    assert not found(CODE)


def spread_out():
    """Rewards are a row, values of the next observation a column."""
    torch.manual_seed(0)
    env = gymnasium.make("CartPole-v1")
    critic = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
    optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
    obs, _ = env.reset(seed=0)
    for _ in range(6):
        rows = []
        for _ in range(32):
            before = obs
            obs, reward, terminated, truncated, _ = env.step(int(np.sign(before[2]) > 0))
            rows.append((before, reward, obs))
            if terminated or truncated:
                obs, _ = env.reset()
        one, rewards, other = (torch.as_tensor(np.array(each), dtype=torch.float32) for each in zip(*rows, strict=True))
        with torch.no_grad():
            target = rewards + 0.9 * critic(other)
        loss = (critic(one) - target).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def test_names_the_side_that_was_spread_out_before_the_loss():
    (finding,) = findings(spread_out, CODE, overhead_budget=1.0)
    assert "the target has become (32, 32) where it was computed" in finding.help
