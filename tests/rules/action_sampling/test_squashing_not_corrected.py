import math

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Normal

from tests.programs.data import WIDTH, Drift, net, tensor
from tests.watched import findings

CODE = "ACT327"


def soft_actor_critic(
    way, *, squash=True, steps=70, by_hand=False, elements=1, reduce="sum", reward_scale=1.0, learned=False, bound=1.0,
    shifted=False, of_state=False, sign=1.0
):  # fmt: skip
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    env, actor = Drift(box=True), net(2 * elements)
    critics = nn.ModuleList([net(1, WIDTH + elements), net(1, WIDTH + elements)])
    slow = [net(1, WIDTH + elements), net(1, WIDTH + elements)]
    value = net(1)
    env.action_space = gym.spaces.Box(-bound, bound, (elements,), np.float32)
    optimizer = torch.optim.Adam([*critics.parameters(), *value.parameters()], 1e-3)
    log_alpha = torch.tensor(math.log(0.2), requires_grad=True)
    steer = torch.optim.Adam([log_alpha], 1e-2)

    def drawn(obs):
        mean, scale = actor(obs).chunk(2, -1)
        if by_hand:
            noise = torch.randn_like(mean)
            u = mean + scale.exp() * noise
            logp = -0.5 * noise**2 - scale - 0.5 * math.log(2 * math.pi)
        else:
            normal = Normal(mean, 0.8 * scale.exp())
            u = normal.sample()
            logp = normal.log_prob(u)
        a = torch.tanh(u) if squash else u
        if way == "corrected":
            logp = logp - torch.log(1 - torch.tanh(u) ** 2 + 1e-6)
        if way == "added":
            logp = logp + torch.log(1 - torch.tanh(u) ** 2 + 1e-6)
        if way == "twice":
            logp = logp - torch.log(1 - torch.tanh(a) ** 2 + 1e-6)
        return a, getattr(logp, reduce)(-1) - elements * math.log(bound) * shifted

    memory = []
    obs, _ = env.reset()
    for step in range(steps):
        with torch.no_grad():
            action = drawn(tensor(obs)[None])[0][0].numpy()
        after, reward, terminated, truncated, _ = env.step(bound * action)
        memory.append((obs, action, reward_scale * reward, after, terminated))
        obs = env.reset()[0] if terminated or truncated else after
        if step < 40:
            continue
        rows = [memory[each] for each in rng.permutation(len(memory))[:32]]
        s, a, r, s2, end = (tensor([each[place] for each in rows]) for place in range(5))
        with torch.no_grad():
            a2, logp = drawn(s2)
            q = torch.min(*(each(torch.cat([s2, a2], 1))[:, 0] for each in slow))
            target = r + 0.9 * (1 - end) * (q - sign * log_alpha.exp() * logp)
        loss = sum(((each(torch.cat([s, a], 1))[:, 0] - target) ** 2).mean() for each in critics)
        if of_state:  # a network learns the value of the state itself
            with torch.no_grad():
                a1, logp = drawn(s)
                q = torch.min(*(each(torch.cat([s, a1], 1))[:, 0] for each in slow))
                target = q - sign * log_alpha.exp() * logp
            loss = ((value(s)[:, 0] - target) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if learned:
            steer.zero_grad()
            (-(log_alpha * (logp - elements)).mean()).backward()
            steer.step()


def test_fires_where_the_correction_is_missing():
    (finding,) = findings(lambda: soft_actor_critic("plain"), CODE)
    assert finding.component == "action-sampling"
    assert "lacks" in finding.message


def test_fires_where_the_tanh_is_taken_twice():
    (finding,) = findings(lambda: soft_actor_critic("twice"), CODE)
    assert "lacks" not in finding.message


def test_fires_where_the_correction_is_added():
    (finding,) = findings(lambda: soft_actor_critic("added"), CODE)
    assert "wrong way" in finding.message


def test_fires_where_the_density_is_written_by_hand():
    (finding,) = findings(lambda: soft_actor_critic("plain", by_hand=True, elements=2, steps=90), CODE)
    assert "lacks" in finding.message


def test_fires_where_rewards_are_scaled():
    assert findings(lambda: soft_actor_critic("plain", reward_scale=0.1), CODE)


def test_fires_where_the_value_of_the_state_is_learned():
    assert findings(lambda: soft_actor_critic("plain", elements=2, of_state=True), CODE)


def test_quiet_where_it_is_corrected():
    assert not findings(lambda: soft_actor_critic("corrected"), CODE)


def test_quiet_where_it_is_corrected_by_hand():
    assert not findings(lambda: soft_actor_critic("corrected", by_hand=True, elements=2, steps=90), CODE)


def test_quiet_where_nothing_is_squashed():
    assert not findings(lambda: soft_actor_critic("plain", squash=False), CODE)


def test_quiet_where_nothing_is_squashed_by_hand():
    assert not findings(lambda: soft_actor_critic("plain", squash=False, by_hand=True, elements=2), CODE)
