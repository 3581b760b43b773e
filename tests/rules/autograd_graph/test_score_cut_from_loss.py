import pytest

from rldebug.rules.autograd_graph.score_cut_from_loss import ScoreCutFromLoss
from tests.judge import quiet
from tests.rules.sources import points_at, text

HEAD = """
import numpy as np
import torch
from torch import nn, optim
from torch.distributions import Categorical

policy = nn.Linear(4, 2)
returns = torch.ones(3)
"""


@pytest.mark.parametrize(
    "code",
    [
        """
log_probs = []
for state in states:
    dist = Categorical(logits=policy(state))
    action = dist.sample()
    log_probs.append(dist.log_prob(action))
loss = -(torch.tensor(log_probs) * returns).mean()  # here
loss.backward()
""",
        """
dist = Categorical(logits=policy(states))
score = dist.log_prob(dist.sample())
loss = -(score.detach() * returns).sum()  # here
loss.backward()
""",
        """
class Agent:
    def __init__(self):
        self.net = nn.Linear(4, 2)
        self.kept = []

    def act(self, state):
        with torch.no_grad():
            dist = Categorical(logits=self.net(state))
            action = dist.sample()
            self.kept.append(dist.log_prob(action))  # here
        return action

    def learn(self):
        loss = -(torch.stack(self.kept) * returns).mean()
        loss.backward()
""",
        """
scores = []
for state in states:
    dist = Categorical(logits=policy(state))
    scores.append(dist.log_prob(dist.sample()).item())  # here
loss = torch.tensor(-np.array(scores) * returns.numpy()).mean()
loss.backward()
""",
    ],
)
def test_fires_where_nothing_leads_to_the_policy(code):
    points_at(ScoreCutFromLoss(), HEAD + code)


@pytest.mark.parametrize(
    "code",
    [
        """
log_probs = []
for state in states:
    dist = Categorical(logits=policy(state))
    log_probs.append(dist.log_prob(dist.sample()))
loss = -(torch.stack(log_probs) * returns).mean()
loss.backward()
""",
        """
dist = Categorical(logits=policy(states))
old = dist.log_prob(actions).detach()
for _ in range(4):
    new = Categorical(logits=policy(states)).log_prob(actions)
    loss = -(torch.exp(new - old) * returns).mean()
    loss.backward()
""",
        """
def update(new, dist, actions):
    old = Categorical(logits=policy(states)).log_prob(actions).detach()
    loss = -(torch.exp(new - old) * returns).mean()
    loss.backward()
""",
        """
old = Categorical(logits=policy(states)).log_prob(actions).detach()
loss = learner.objective(old, returns)
loss.backward()
""",
        """
weight = Categorical(logits=policy(states)).log_prob(actions).detach().exp()
value = nn.Linear(4, 1)
loss = (weight * (value(states).squeeze(-1) - returns) ** 2).mean()
loss.backward()
""",
        """
log_alpha = torch.tensor(0.2, requires_grad=True)
def learn():
    logp = Categorical(logits=policy(states)).log_prob(actions)
    loss = -(log_alpha * (logp.detach() + 2.0)).mean()
    loss.backward()
""",
    ],
)
def test_quiet_where_a_way_is_left_or_may_be(code):
    quiet(ScoreCutFromLoss(), text(HEAD + code))
