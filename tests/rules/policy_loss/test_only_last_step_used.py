import pytest

from rldebug.rules.policy_loss.only_last_step_used import OnlyLastStepUsed
from tests.judge import quiet
from tests.rules.sources import points_at, text

_HEAD = """
import torch
from torch import nn
from torch.distributions import Categorical
net = nn.Linear(4, 2)

def act(obs):
    dist = Categorical(logits=net(obs))
    action = dist.sample()
    return action, dist.log_prob(action), dist.entropy()
"""


@pytest.mark.parametrize(
    "code",
    [
        """
logps, rewards = [], []
for t in range(100):
    action, logp, entropy = act(obs)
    obs, reward, term, trunc, _ = env.step(action.item())
    logps.append(logp)
    rewards.append(reward)
loss = -(torch.stack(logps) * torch.tensor(rewards)).mean() - 0.01 * entropy.mean()  # here
loss.backward()
""",
        """
def episode(env, opt):
    done, total = False, 0.0
    obs, _ = env.reset()
    while not done:
        dist = Categorical(logits=net(obs))
        action = dist.sample()
        score = dist.log_prob(action)
        obs, reward, term, trunc, _ = env.step(action.item())
        total += reward
        done = term or trunc
    loss = -score * total  # here
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ],
)
def test_fires_where_only_the_last_one_is_left(code):
    points_at(OnlyLastStepUsed(), _HEAD + code)


@pytest.mark.parametrize(
    "code",
    [
        """
entropies = []
for t in range(100):
    action, logp, entropy = act(obs)
    obs, reward, term, trunc, _ = env.step(action.item())
    entropies.append(entropy)
loss = -torch.stack(entropies).mean()
loss.backward()
""",
        """
for t in range(100):
    action, logp, entropy = act(obs)
    obs, reward, term, trunc, _ = env.step(action.item())
    loss = -logp * reward
    loss.backward()
""",
        """
bonus = 0
for t in range(100):
    action, logp, entropy = act(obs)
    obs, reward, term, trunc, _ = env.step(action.item())
    bonus = bonus + entropy
(-bonus).backward()
""",
        """
for t in range(100):
    action, logp, entropy = act(obs)
    obs, reward, term, trunc, _ = env.step(action.item())
action, logp, entropy = act(rollout.obs)
(-(logp * adv).mean() - entropy.mean()).backward()
""",
    ],
)
def test_quiet_about_what_was_collected(code):
    quiet(OnlyLastStepUsed(), text(_HEAD + code))
