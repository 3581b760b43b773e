import pytest

from rldebug.rules.policy_loss.score_of_fresh_sample import ScoreOfFreshSample
from tests.judge import quiet
from tests.rules.sources import points_at, text

UPDATE = """
import torch
from torch.distributions import Categorical
def update(net, critic, optimizer, states, taken, returns, beta):
    d = Categorical(logits=net(states))
    gain = (torch.tensor(returns) - critic(states)).detach()
    {lines}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    "lines",
    [
        "loss = -(gain * d.log_prob(d.sample())).mean()  # here",
        "score = d.log_prob(d.sample())  # here\n    loss = -(score * gain).sum()",
        "drawn = d.sample()\n    loss = (-d.log_prob(drawn).squeeze() * gain).mean()  # here",
    ],
)
def test_fires_where_the_sample_is_drawn_for_the_loss(lines):
    points_at(ScoreOfFreshSample(), UPDATE.format(lines=lines))


@pytest.mark.parametrize(
    "lines",
    [
        "loss = -(gain * d.log_prob(taken)).mean()",
        "loss = -(gain * d.log_prob(taken)).mean() + 0.01 * d.log_prob(d.sample()).mean()",
        "loss = -(gain * d.log_prob(taken)).mean() + beta * d.log_prob(d.sample()).mean()",
        "drawn = d.sample()\n    after = net.env.step(drawn)\n    loss = -(gain * d.log_prob(drawn)).mean()",
        "heat = critic.log_heat.exp().detach()\n    loss = (heat * d.log_prob(d.sample())).mean() - gain.mean()",
        "drawn = d.rsample()\n    loss = -(gain * d.log_prob(drawn)).mean()",
        "drawn = d.sample()\n    gain = critic(drawn).detach() - 1\n    loss = -(gain * d.log_prob(drawn)).mean()",
    ],
)
def test_quiet_where_it_was_taken_or_is_an_entropy(lines):
    quiet(ScoreOfFreshSample(), text(UPDATE.format(lines=lines)))
