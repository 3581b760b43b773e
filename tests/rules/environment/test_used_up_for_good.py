from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.distributions import Categorical

from rldebug.rules.environment.used_up_for_good import UsedUpForGood
from tests.judge import fires, not_enough, quiet
from tests.watched import watched


class Craft:
    """Comes down with some fuel; what `reset` forgets is said by `fault`."""

    def __init__(self, seed: int, fault: str) -> None:
        self.rng, self.fault = np.random.default_rng(seed), fault
        self.fuel, self.level, self.resets = 1.0, 0.0, 0

    def _look(self):
        return np.array([self.height, self.fuel, self.level], dtype=np.float32)

    def reset(self):
        self.height, self.clock = self.rng.uniform(1.0, 2.0), 0
        self.resets += 1
        if self.fault != "empty":
            self.fuel = 1.0
        if self.fault == "curriculum":
            self.level = min(self.resets // 3, 2) / 2
        return self._look()

    def step(self, action):
        burnt = min(self.fuel, 0.2 * action) if self.fault != "constant" else 0.0
        self.fuel -= burnt
        self.height += burnt - 0.15
        self.clock += 1
        return self._look(), -abs(self.height), self.height < 0, self.clock >= 12


def program(fault: str, crafts: int = 2, rounds: int = 10) -> None:
    torch.manual_seed(0)
    envs = [Craft(seed, fault) for seed in range(crafts)]
    net = torch.nn.Linear(3, 2)
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    obs = [env.reset() for env in envs]
    for _ in range(rounds):
        logps, rewards = [], []
        for _ in range(30):
            dist = Categorical(logits=net(torch.as_tensor(np.stack(obs))))
            acts = dist.sample()
            logps.append(dist.log_prob(acts))
            paid = []
            for i, env in enumerate(envs):
                obs[i], reward, over, late = env.step(int(acts[i]))
                paid.append(reward)
                if over or late:
                    obs[i] = env.reset()
            rewards.append(torch.tensor(paid, dtype=torch.float32))
        opt.zero_grad()
        (-(torch.stack(logps) * torch.stack(rewards)).mean()).backward()
        opt.step()


@pytest.mark.parametrize("crafts", [1, 2])
def test_fires_where_the_tank_is_never_filled_again(crafts: int) -> None:
    assert "element 1 " in fires(UsedUpForGood(), watched(lambda: program("empty", crafts))[1]).seen


@pytest.mark.parametrize("fault", ["", "curriculum", "constant"])
def test_quiet_where_it_is_or_nothing_is_used_or_resets_move_it(fault: str) -> None:
    quiet(UsedUpForGood(), watched(lambda: program(fault))[1])


def test_declines_after_a_few_episodes() -> None:
    not_enough(UsedUpForGood(), watched(lambda: program("", 1, 1))[1])
