"""Values of consecutive steps: held against what the program itself had in its hands while it acted."""

import math

import gymnasium as gym
import numpy as np
import pytest
import torch
from tests.programs.data import Drift
from tests.programs.targets import ddpg
from tests.watched import watched
from torch import nn

from rldebug.evidence.script import Script
from rldebug.forensics.value_trace import STEPS, _window, value_trace


class Shared(nn.Module):
    """One trunk, two heads: scores of actions, and a value."""

    def __init__(self) -> None:
        super().__init__()
        self.trunk, self.actor, self.critic = nn.Linear(3, 16), nn.Linear(16, 3), nn.Linear(16, 1)

    def forward(self, x):
        hidden = torch.tanh(self.trunk(x))
        return self.actor(hidden), self.critic(hidden)


def actor_critic(log, phases=6, lanes=4, horizon=24):
    torch.manual_seed(0)
    envs = gym.vector.SyncVectorEnv(
        [lambda seed=seed: Drift(seed) for seed in range(lanes)], autoreset_mode=gym.vector.AutoresetMode.SAME_STEP
    )
    net = Shared()
    optimizer = torch.optim.Adam(net.parameters(), 3e-3)
    obs, _ = envs.reset()
    for _ in range(phases):
        rows = []
        for _ in range(horizon):
            seen = torch.as_tensor(obs, dtype=torch.float32)
            with torch.no_grad():
                scores, value = net(seen)
                action = torch.distributions.Categorical(logits=scores).sample()
            obs, reward, ended, cut, _ = envs.step(action.numpy())
            rows.append((seen, action, value[:, 0], torch.as_tensor(reward, dtype=torch.float32)))
            log.append((value[:, 0].tolist(), reward.tolist(), (ended + 2 * (cut & ~ended)).tolist()))
        s, a, v, r = (torch.cat(each) for each in zip(*rows, strict=True))
        target = r + 0.5 * v
        scores, value = net(s)
        logp = torch.distributions.Categorical(logits=scores).log_prob(a)
        loss = -(logp * (target - v)).mean() + 0.5 * (value[:, 0] - target).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def columns(log, lane):
    return [tuple(part[lane] for part in step) for step in log]


def found_in(steps, trace):
    """Whether the trace is a stretch of these steps; where its value is unknown, any is."""
    length = len(trace.value)
    told = list(zip(trace.value, trace.reward, trace.end, strict=True))
    for start in range(len(steps) - length + 1):
        pairs = zip(told, steps[start : start + length], strict=True)
        if all(
            (math.isnan(one[0]) or abs(one[0] - two[0]) < 1e-5) and abs(one[1] - two[1]) < 1e-5 and one[2] == two[2]
            for one, two in pairs
        ):
            return True
    return False


def test_a_critic_that_shares_its_trunk_with_the_policy():
    log = []
    _, script = watched(lambda: actor_critic(log))
    trace = value_trace(script)
    assert trace is not None
    assert (trace.what, trace.evaluation) == ("V(s)", False)
    assert len(trace.value) == len(trace.reward) == len(trace.end) >= 24
    assert any(found_in(columns(log, lane), trace) for lane in range(4))
    assert sum(map(bool, trace.end)) > 0, "it goes on over the end of an episode"
    assert trace.update >= 3, "of the second half of what was seen"


def q_learner(log, steps=160, epsilon=0.2):
    """Learns so slowly that its values stay what they are; they are logged by hand, without calling the network."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    env = Drift(0)
    q = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 3))
    w, b, head, offset = (each.detach().numpy().copy() for each in q.parameters())
    optimizer = torch.optim.SGD(q.parameters(), 1e-9)
    memory = []
    obs, _ = env.reset()
    for _ in range(steps):
        if rng.random() < epsilon:
            action = int(rng.integers(3))
        else:
            with torch.no_grad():
                action = int(q(torch.as_tensor(obs, dtype=torch.float32)[None]).argmax())
        best = float((head @ np.tanh(w @ obs + b) + offset).max())
        after, reward, ended, cut, _ = env.step(action)
        log.append((best, float(reward), int(ended) or 2 * int(cut)))
        memory.append((obs, action, reward, after, ended))
        obs = env.reset()[0] if ended or cut else after
        if len(memory) < 32:
            continue
        picked = [memory[each] for each in rng.integers(0, len(memory), 4)]
        s, a, r, t, d = (torch.as_tensor(np.array(each)) for each in zip(*picked, strict=True))
        with torch.no_grad():
            target = r.float() + 0.9 * (1 - d.float()) * q(t.float()).max(1).values
        loss = (q(s.float()).gather(1, a[:, None])[:, 0] - target).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def test_a_network_of_action_values_gives_the_best_of_them():
    log = []
    _, script = watched(lambda: q_learner(log))
    trace = value_trace(script)
    assert trace is not None
    assert trace.what == "max Q(s, a)"
    assert len(trace.value) >= 16
    assert found_in(log, trace)
    assert np.isnan(trace.value).mean() <= 0.4
    assert np.isnan(trace.value).any(), "it was not asked where it explored"


def test_a_critic_that_is_given_the_action():
    _, script = watched(ddpg)
    trace = value_trace(script)
    assert trace is not None
    assert trace.what == "Q(s, a)"
    assert not math.isnan(trace.value[0])
    assert not math.isnan(trace.value[-1])


def test_without_a_critic_there_is_none():
    def reinforce():
        env = Drift(0)
        net = nn.Linear(3, 3)
        optimizer = torch.optim.SGD(net.parameters(), 0.01)
        for _ in range(3):
            obs, _ = env.reset()
            logps, rewards = [], []
            for _ in range(12):
                dist = torch.distributions.Categorical(logits=net(torch.as_tensor(obs, dtype=torch.float32)))
                action = dist.sample()
                logps.append(dist.log_prob(action))
                obs, reward, ended, cut, _ = env.step(int(action))
                rewards.append(float(reward))
                if ended or cut:
                    break
            optimizer.zero_grad()
            (-torch.stack(logps).sum() * sum(rewards)).backward()
            optimizer.step()

    assert value_trace(watched(reinforce)[1]) is None
    assert value_trace(Script()) is None


@pytest.mark.parametrize(
    ("known", "window"),
    [
        ([True] * 20, (0, 20)),
        ([False, True] * 4 + [True] * 8, (1, 16)),
        ([False] * 40 + [True] * 10, (40, 50)),
        ([False] * 300, (0, 0)),
        ([True] * 7, (0, 0)),
        ([True] * 300, (300 - STEPS, 300)),
    ],
)
def test_the_longest_stretch_of_mostly_known_values(known, window):
    found = _window(np.array(known))
    assert (found.start, found.stop) == window
