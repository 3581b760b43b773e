import copy

import numpy as np
import torch

from rldebug.rules.target_network.target_follows_more_than_once import TargetFollowsMoreThanOnce
from tests.programs.data import Drift, net, tensor
from tests.watched import findings

CODE = TargetFollowsMoreThanOnce.code
RATE = 0.03


def learner(*, tau=None, halves=2, within=False, times=1, steps=110):
    """A Q-learner that adds up the gradients of parts of a batch. tau: a setting, for others to read."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    env, critic = Drift(), net(3)
    slow = copy.deepcopy(critic)
    optimizer = torch.optim.Adam(critic.parameters(), 1e-2)
    memory = []

    def follow():
        for own, theirs in zip(slow.parameters(), critic.parameters(), strict=True):
            own.data.lerp_(theirs.data, RATE)

    obs, _ = env.reset()
    for step in range(steps):
        action = int(rng.integers(3))
        after, reward, terminated, truncated, _ = env.step(action)
        memory.append((obs, action, reward, after, terminated))
        obs = env.reset()[0] if terminated or truncated else after
        if step < 40:
            continue
        optimizer.zero_grad()
        for _ in range(halves):
            rows = [memory[each] for each in rng.permutation(len(memory))[:16]]
            s, a, r, s2, end = (tensor([each[place] for each in rows]) for place in range(5))
            with torch.no_grad():
                target = r + 0.9 * (1 - end) * slow(s2).max(1).values
            chosen = critic(s).gather(1, a.long()[:, None])[:, 0]
            (((chosen - target) ** 2).mean() / halves).backward()
            if within:
                follow()
        optimizer.step()
        for _ in range(0 if within else times):
            follow()


def test_fires_where_it_moves_in_each_half_batch():
    (finding,) = findings(lambda: learner(within=True), CODE)
    assert finding.component == "target-network"
    assert "between two steps" in finding.seen


def test_fires_where_the_rate_is_that_of_two_updates():
    (finding,) = findings(lambda: learner(tau=RATE, times=2, halves=1), CODE, without=())
    assert "2 updates" in finding.seen


def test_quiet_where_it_moves_once_a_step():
    assert not findings(lambda: learner(tau=RATE), CODE, without=())


def test_quiet_where_nothing_says_what_the_rate_should_be():
    assert not findings(lambda: learner(times=2, halves=1), CODE)
