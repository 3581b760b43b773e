import numpy as np
import torch
from torch import nn
from torch.distributions import Normal

from tests.programs.data import WIDTH, Drift, net, tensor
from tests.watched import findings

CODE = "ACT327"


def soft_actor_critic(way, *, squash=True, steps=70):
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    env, actor = Drift(box=True), net(2)
    critics, slow = nn.ModuleList([net(1, WIDTH + 1), net(1, WIDTH + 1)]), [net(1, WIDTH + 1), net(1, WIDTH + 1)]
    optimizer = torch.optim.Adam(critics.parameters(), 1e-3)

    def drawn(obs):
        mean, scale = actor(obs).chunk(2, -1)
        normal = Normal(mean, 0.8 * scale.exp())
        u = normal.sample()
        a, logp = torch.tanh(u) if squash else u, normal.log_prob(u)
        if way == "corrected":
            logp = logp - torch.log(1 - torch.tanh(u) ** 2 + 1e-6)
        if way == "twice":
            logp = logp - torch.log(1 - torch.tanh(a) ** 2 + 1e-6)
        return a, logp.sum(-1)

    memory = []
    obs, _ = env.reset()
    for step in range(steps):
        with torch.no_grad():
            action = drawn(tensor(obs)[None])[0][0].numpy()
        after, reward, terminated, truncated, _ = env.step(action)
        memory.append((obs, action, reward, after, terminated))
        obs = env.reset()[0] if terminated or truncated else after
        if step < 40:
            continue
        rows = [memory[each] for each in rng.permutation(len(memory))[:32]]
        s, a, r, s2, end = (tensor([each[place] for each in rows]) for place in range(5))
        with torch.no_grad():
            a2, logp = drawn(s2)
            q = torch.min(*(each(torch.cat([s2, a2], 1))[:, 0] for each in slow))
            target = r + 0.9 * (1 - end) * (q - 0.2 * logp)
        loss = sum(((each(torch.cat([s, a], 1))[:, 0] - target) ** 2).mean() for each in critics)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def test_fires_where_the_correction_is_missing():
    (finding,) = findings(lambda: soft_actor_critic("plain"), CODE)
    assert finding.component == "action-sampling"
    assert "lacks" in finding.message


def test_fires_where_the_tanh_is_taken_twice():
    (finding,) = findings(lambda: soft_actor_critic("twice"), CODE)
    assert "lacks" not in finding.message


def test_quiet_where_it_is_corrected():
    assert not findings(lambda: soft_actor_critic("corrected"), CODE)


def test_quiet_where_nothing_is_squashed():
    assert not findings(lambda: soft_actor_critic("plain", squash=False), CODE)
