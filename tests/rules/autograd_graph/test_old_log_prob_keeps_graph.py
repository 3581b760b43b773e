import pytest

from rldebug.rules.autograd_graph.old_log_prob_keeps_graph import OldLogProbKeepsGraph
from tests.judge import quiet
from tests.rules.sources import points_at, text

HEAD = """
import torch
from torch import nn
from torch.distributions import Categorical

net = nn.Linear(4, 2)
"""


@pytest.mark.parametrize(
    "code",
    [
        """
kept = []
for state in states:
    dist = Categorical(logits=net(state))
    action = dist.sample()
    kept.append(dist.log_prob(action))  # here
old = torch.stack(kept)
for _ in range(4):
    new = Categorical(logits=net(states)).log_prob(actions)
    ratio = torch.exp(new - old)
    (-(ratio * advantages).mean()).backward()
""",
        """
class Agent:
    def __init__(self):
        self.policy = nn.Linear(4, 2)
        self.scores = []

    def act(self, state):
        dist = Categorical(logits=self.policy(state))
        action = dist.sample()
        score = dist.log_prob(action)
        self.scores.append(score)  # here
        return action.item()

    def learn(self, states, actions, weight):
        old = torch.stack(self.scores)
        new = Categorical(logits=self.policy(states)).log_prob(actions)
        loss = -((new - old).exp() * weight).mean()
        loss.backward()
""",
    ],
)
def test_fires_where_acting_is_recorded(code):
    points_at(OldLogProbKeepsGraph(), HEAD + code)


@pytest.mark.parametrize(
    "code",
    [
        """
kept = []
for state in states:
    with torch.no_grad():
        dist = Categorical(logits=net(state))
        kept.append(dist.log_prob(dist.sample()))
ratio = torch.exp(Categorical(logits=net(states)).log_prob(actions) - torch.stack(kept))
""",
        """
kept = []
for state in states:
    dist = Categorical(logits=net(state))
    kept.append(dist.log_prob(dist.sample()).item())
ratio = torch.exp(Categorical(logits=net(states)).log_prob(actions) - torch.tensor(kept))
""",
        """
kept = []
for state in states:
    dist = Categorical(logits=net(state))
    kept.append(dist.log_prob(dist.sample()))
old = torch.stack(kept).detach()
ratio = torch.exp(Categorical(logits=net(states)).log_prob(actions) - old)
""",
        """
kept = torch.zeros(9)
for t, state in enumerate(states):
    with torch.no_grad():
        logits = net(state)
    dist = Categorical(logits=logits)
    kept[t] = dist.log_prob(dist.sample())
ratio = torch.exp(Categorical(logits=net(states)).log_prob(actions) - kept)
""",
        """
new = Categorical(logits=net(states)).log_prob(actions)
kl = (torch.exp(reference - new) - 1 - (reference - new)).mean()
""",
        """
kept = []
for state in states:
    dist = Categorical(logits=net(state))
    kept.append(dist.log_prob(dist.sample()))
loss = -(torch.stack(kept) * returns).mean()
""",
    ],
)
def test_quiet_where_old_ones_are_numbers(code):
    quiet(OldLogProbKeepsGraph(), text(HEAD + code))
