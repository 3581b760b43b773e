from textwrap import dedent

import pytest

from rldebug.rules.policy_loss.return_minimised import ReturnMinimised
from tests.judge import quiet
from tests.rules.sources import points_at, text

_HEAD = """
import torch
import torch.nn as nn
from torch.distributions import Categorical, Normal
net = nn.Linear(4, 2)
critic = nn.Linear(4, 1)
opt = torch.optim.Adam(net.parameters())
"""


def _with_head(code: str):
    return _HEAD + dedent(code)


@pytest.mark.parametrize(
    "code",
    [
        """
        def update(obs, actions, returns):
            returns = torch.tensor(returns)
            dist = Categorical(logits=net(obs))
            loss = (dist.log_prob(actions) * returns).mean()  # here
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        logps, rewards = [], []
        for t in range(100):
            dist = Categorical(logits=net(obs))
            action = dist.sample()
            logps.append(dist.log_prob(action))
            obs, reward, term, trunc, _ = env.step(action.item())
            rewards.append(reward)
        losses = []
        for logp, g in zip(logps, rewards):
            losses.append(logp * g)  # here
        torch.stack(losses).sum().backward()
        opt.step()
        """,
        """
        class Learner:
            def update(self, batch):
                adv = torch.as_tensor(batch.returns) - critic(batch.obs).detach()
                new = Normal(net(batch.obs), 1.0).log_prob(batch.act).sum(-1)
                ratio = torch.exp(new - batch.logp)
                s1 = ratio * adv  # here
                s2 = torch.clamp(ratio, 0.8, 1.2) * adv
                policy_loss = torch.min(s1, s2).mean()
                value_loss = (critic(batch.obs).squeeze(-1) - batch.returns).pow(2).mean()
                total = policy_loss + 0.5 * value_loss
                total.backward()
                opt.step()
        """,
    ],
)
def test_fires_where_no_minus_is_on_the_way(code):
    points_at(ReturnMinimised(), _with_head(code))


@pytest.mark.parametrize(
    "code",
    [
        """
        dist = Categorical(logits=net(obs))
        loss = -(dist.log_prob(a) * torch.tensor(returns)).mean()
        loss.backward()
        opt.step()
        """,
        """
        dist = Categorical(logits=net(obs))
        loss = (dist.log_prob(a) * torch.tensor(returns)).mean()
        (-loss).backward()
        opt.step()
        """,
        """
        adv = critic(obs).detach() - torch.tensor(returns)
        loss = (Categorical(logits=net(obs)).log_prob(a) * adv).mean()
        loss.backward()
        opt.step()
        """,
        """
        weight = -torch.tensor(returns)
        loss = (Categorical(logits=net(obs)).log_prob(a) * weight).mean()
        loss.backward()
        opt.step()
        """,
        """
        dist = Normal(net(obs), 1.0)
        action = dist.rsample()
        alpha = torch.tensor(0.2)
        loss = (alpha * dist.log_prob(action) - critic(action)).mean()
        loss.backward()
        opt.step()
        """,
        """
        opt = torch.optim.SGD(net.parameters(), lr=1e-3, maximize=True)
        loss = (Categorical(logits=net(obs)).log_prob(a) * torch.tensor(returns)).mean()
        loss.backward()
        opt.step()
        """,
        """
        logp = Normal(net(obs), 1.0).log_prob(torch.tensor(kept))
        loss = (logp * (logp - torch.tensor(wanted)).detach()).mean()
        loss.backward()
        opt.step()
        """,
        """
        loss = 0.01 * Categorical(logits=net(obs)).log_prob(a).mean()
        loss.backward()
        opt.step()
        """,
        """
        logp = Categorical(logits=net(obs)).log_prob(a)
        ratio = torch.exp(logp - old)
        pg1 = -torch.tensor(adv) * ratio
        pg2 = -torch.tensor(adv) * torch.clamp(ratio, 0.8, 1.2)
        torch.max(pg1, pg2).mean().backward()
        opt.step()
        """,
    ],
)
def test_quiet_about_losses_with_the_right_sign(code):
    quiet(ReturnMinimised(), text(_with_head(code)))
