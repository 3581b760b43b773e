"""What the first layer of a network is given, beside what the innermost environment returned."""

from __future__ import annotations

import json

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import nn

from rldebug.capture.gallery import Gallery
from rldebug.capture.looks import Looks
from rldebug.capture.session import Options, Session
from tests.capture.decode_png import decode
from tests.capture.image_program import Grey, Pictures


class Watching:
    """A session with looks; `every` call of an environment is one."""

    def __init__(self, folder, every=5, **options):
        self.folder = folder
        self.session = Session(folder, Options(**options))
        self.gallery = Gallery(folder / "frames", lambda: (self.session.updates, self.session.log.steps), every)
        self.looks = Looks(self.session, self.gallery)

    def __enter__(self):
        self.session.install()
        self.looks.begin()
        return self

    def __exit__(self, *_):
        self.session.finish()
        assert not self.session.switch.broken
        assert self.gallery.problem is None
        assert not nn.modules.module._global_forward_pre_hooks
        assert not nn.modules.module._global_forward_hooks

    @property
    def lines(self):
        file = self.folder / "frames" / "index.jsonl"
        return [json.loads(each) for each in file.read_text().splitlines()] if file.exists() else []

    def picture(self, name):
        return decode((self.folder / "frames" / name).read_bytes())


def act(net, obs):
    return int(net(torch.as_tensor(obs)[None]).argmax())


def test_the_raw_picture_beside_what_the_network_got(tmp_path):
    with Watching(tmp_path) as watching:
        env = gym.wrappers.FrameStackObservation(Grey(Pictures()), 4)
        policy = nn.Sequential(nn.Conv2d(4, 4, 3, 2), nn.Flatten(), nn.Linear(396, 2))
        obs, _ = env.reset(seed=0)
        for _ in range(18):
            obs, *_ = env.step(act(policy, obs))
    assert len(watching.lines) >= 4
    for line in watching.lines:
        assert line["source"] == "network"
        assert line["name"] == "policy"
        assert line["before"]["shape"] == [40, 48, 3]
        assert line["before"]["dtype"] == "uint8"
        assert line["after"]["shape"] == [4, 20, 24]
        assert line["after"]["dtype"] == "float32"
        raw, given = watching.picture(line["before"]["png"]), watching.picture(line["after"]["png"])
        assert raw.shape == (40, 48, 3)
        assert given.shape == (20, 4 * 24 + 6)
        # The place of the moving square says which step it is: that of the newest frame is that of the raw one.
        newest = given[:, -24:]
        at, shown = np.flatnonzero(raw[6, :, 0])[0], np.flatnonzero(newest[4] > 128)[0]
        assert abs(at / 2 - shown) <= 0.5, "they are not of the same step"


def test_of_a_vector_of_environments_the_first_and_no_batch_that_is_learned_from(tmp_path):
    with Watching(tmp_path, every=3) as watching:
        envs = gym.vector.SyncVectorEnv([lambda: gym.make("CartPole-v1")] * 3)
        critic = nn.Linear(4, 1)
        obs, _ = envs.reset(seed=0)
        seen = []
        for _ in range(12):
            critic(torch.full((32, 4), 9.0))
            critic(torch.full((3, 4), 0.0) + torch.as_tensor(obs))
            seen.append(obs[0].tolist())
            obs, *_ = envs.step(np.zeros(3, dtype=int))
    assert len(watching.lines) >= 3
    for line in watching.lines:
        assert line["before"]["values"] == line["after"]["values"]
        assert line["before"]["values"] in seen
        assert line["after"]["shape"] == [4]


def test_a_scaled_vector_is_shown_as_it_is_given(tmp_path):
    """Rows that nothing explains are matched by time, and the raw ones lie before all wrappers."""
    with Watching(tmp_path, every=4) as watching:
        env = gym.wrappers.TransformObservation(gym.make("CartPole-v1"), lambda obs: obs * 100 + 1, None)
        policy = nn.Linear(4, 2)
        obs, _ = env.reset(seed=0)
        for _ in range(8):  # no episode of CartPole is shorter
            obs, *_ = env.step(act(policy, torch.as_tensor(obs) * 2))
    assert len(watching.lines) >= 2
    for line in watching.lines:
        before, after = np.array(line["before"]["values"]), np.array(line["after"]["values"])
        assert after == pytest.approx((before * 100 + 1) * 2, rel=1e-5)


def test_the_first_layer_within_a_network_that_prepares_its_input_itself(tmp_path):
    class Policy(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Identity()
            self.body = nn.Sequential(nn.Conv2d(3, 2, 5, 4), nn.Flatten(), nn.Linear(198, 2))

        def forward(self, obs):
            return self.body(self.scale(obs.permute(0, 3, 1, 2).float() / 255))

    with Watching(tmp_path) as watching:
        env, policy = Pictures(), Policy()
        obs, _ = env.reset(seed=0)
        for _ in range(8):
            obs, *_ = env.step(act(policy, obs))
    assert watching.lines
    for line in watching.lines:
        assert line["after"]["shape"] == [3, 40, 48]
        assert line["after"]["max"] == 1.0
        assert line["before"]["max"] == 255.0


def test_waiting_for_a_network_that_never_acts_ends(tmp_path):
    with Watching(tmp_path, every=4) as watching:
        env, other = gym.make("CartPole-v1"), nn.Linear(7, 1)
        env.reset(seed=0)
        env.step(0)
        for _ in range(300):
            other(torch.ones(64, 7))
        assert not watching.looks._handles
    assert not watching.lines


def test_while_an_environment_is_played_at_random_nobody_waits(tmp_path):
    with Watching(tmp_path, every=1000) as watching:
        env, policy = gym.make("CartPole-v1"), nn.Linear(4, 2)
        obs, _ = env.reset(seed=0)
        for _ in range(1500):
            calls = watching.session.env_calls
            assert not watching.looks._armed or not 70 < calls % 1000 < 99
            obs, _, over, *_ = env.step(act(policy, obs) if calls > 980 else 0)
            if over:
                obs, _ = env.reset()
    assert len(watching.lines) == 1


def test_nothing_is_kept_without_a_budget(tmp_path):
    with Watching(tmp_path, overhead_budget=0.0) as watching:
        env, policy = gym.make("CartPole-v1"), nn.Linear(4, 2)
        obs, _ = env.reset(seed=0)
        for _ in range(8):
            obs, *_ = env.step(act(policy, obs))
    assert not watching.lines


def test_no_graph_is_kept_and_nothing_is_drawn(tmp_path):
    def train():
        torch.manual_seed(0)
        env, policy = gym.make("CartPole-v1"), nn.Linear(4, 2)
        optimizer = torch.optim.SGD(policy.parameters(), 0.1)
        obs, _ = env.reset(seed=0)
        for step in range(40):
            out = policy(torch.as_tensor(obs)[None])
            obs, _, over, *_ = env.step(int(torch.distributions.Categorical(logits=out).sample()))
            optimizer.zero_grad()
            out.square().sum().backward()
            optimizer.step()
            if over:
                obs, _ = env.reset(seed=step)
        return policy.weight.detach().numpy().tobytes(), torch.rand(1).item()

    bare = train()
    with Watching(tmp_path, every=1) as watching:
        assert train() == bare
    assert len(watching.lines) >= 10
