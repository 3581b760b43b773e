"""Rows of networks, where several observations look the same."""

import gymnasium as gym
import numpy as np
import torch
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from torch import nn

from rldebug.capture.loss_terms import terms_of
from rldebug.capture.ways import as_rows
from tests.watched import watched


class Corridor(gym.Env):
    """Two places, and a number for each."""

    observation_space = gym.spaces.Discrete(2)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.time = 0
        return 0, {}

    def step(self, action):
        self.time += 1
        return self.time % 2, 1.0, self.time >= 7, False, {}


def learn() -> None:
    torch.manual_seed(0)
    envs = SyncVectorEnv([Corridor] * 3, autoreset_mode=AutoresetMode.SAME_STEP)
    net = nn.Sequential(nn.Embedding(2, 4), nn.Linear(4, 2))
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    obs, _ = envs.reset(seed=0)
    for _ in range(4):
        loss = torch.zeros(())
        for _ in range(8):
            dist = torch.distributions.Categorical(logits=net(torch.as_tensor(obs)))
            action = dist.sample()
            obs, reward, *_ = envs.step(action.numpy())
            loss = loss - (dist.log_prob(action) * torch.as_tensor(reward)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def test_each_lane_acts_on_its_own_observation_although_they_look_the_same():
    script = watched(learn)[1]
    audit = script.audits[0]
    (acting, *_) = audit.acting
    rows = acting.arrays["rows"].reshape(-1, 3)
    assert (audit.nodes.column("lane", rows.ravel()).reshape(-1, 3) == [0, 1, 2]).all()
    assert len(np.unique(rows)) == rows.size


def test_a_batch_of_numbers_is_a_row_each():
    found = as_rows(np.array([3, 1, 2]), ())
    assert found is not None
    assert found.shape == (3, 1)
    assert as_rows(np.zeros(4, dtype=np.float32), ()) is None  # one state as zeros and a one


def test_pictures_of_several_steps_are_put_together():
    net = nn.Sequential(nn.Conv2d(2, 3, 3, padding=1), nn.Flatten(), nn.Linear(75, 1))
    steps = [torch.rand(4, 2, 5, 5) for _ in range(6)]
    values = torch.stack([net(each).squeeze(-1) for each in steps])
    (term,) = terms_of(nn.functional.mse_loss(values, torch.zeros(6, 4)))
    assert [tuple(each.shape) for each in term.inputs] == [(24, 2, 5, 5)]
    assert torch.equal(term.inputs[0], torch.cat(steps))
