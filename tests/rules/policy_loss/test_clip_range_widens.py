import numpy as np
import pytest
import torch
from torch import nn
from torch.distributions import Categorical

from rldebug.rules.policy_loss.clip_range_widens import ClipRangeWidens
from tests.judge import fires, not_enough, quiet
from tests.programs.worlds import Line
from tests.watched import watched

rule = ClipRangeWidens()


def ppo(schedule, rounds=6, steps=20):
    """PPO, with a range that is given what is left of the training."""
    torch.manual_seed(0)
    env, net = Line(), nn.Linear(2, 2)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    obs, _ = env.reset(seed=0)
    for turn in range(rounds):
        rows, chosen, said, paid = [], [], [], []
        for _ in range(steps):
            with torch.no_grad():
                dist = Categorical(logits=net(torch.as_tensor(obs)[None]))
                action = dist.sample()
            rows.append(obs), chosen.append(action), said.append(dist.log_prob(action))
            obs, reward, terminated, _, _ = env.step(int(action))
            paid.append(float(reward))
            if terminated:
                obs, _ = env.reset()
        s, a, old, gain = torch.as_tensor(np.stack(rows)), torch.cat(chosen), torch.cat(said), torch.tensor(paid)
        size = schedule(1 - turn / rounds)
        for _ in range(2):
            ratio = (Categorical(logits=net(s)).log_prob(a) - old).exp()
            loss = -torch.min(ratio * gain, ratio.clamp(1 - size, 1 + size) * gain).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def seen(schedule, **options):
    return watched(lambda: ppo(schedule, **options), overhead_budget=1.0)[1]


def test_fires_where_the_schedule_is_taken_for_one_of_what_is_done():
    found = fires(rule, seen(lambda left: 0.3 - 0.2 * left))
    assert found.component == "policy-loss"
    assert found.seen.startswith("[0.9, 1.1] at first")


@pytest.mark.parametrize(
    "schedule",
    [lambda left: 0.2, lambda left: 0.2 * left, lambda left: 0.3 - 0.2 * left if left > 0.5 else 0.1],
    ids=["stays", "narrows", "rises and falls"],
)
def test_quiet_where_it_does_not(schedule):
    quiet(rule, seen(schedule))


def test_not_enough_looks():
    assert "looks" in not_enough(rule, seen(lambda left: 0.3 - 0.2 * left, rounds=1))
