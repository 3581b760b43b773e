import pytest

from rldebug.rules.policy_loss.ratio_upside_down import RatioUpsideDown
from tests.judge import quiet
from tests.rules.sources import points_at, text

_HEAD = """
import torch
import torch.nn as nn
from torch.distributions import Categorical
net = nn.Linear(4, 2)
"""


@pytest.mark.parametrize(
    "code",
    [
        """
logp = Categorical(logits=net(obs)).log_prob(act)
ratio = torch.exp(batch["logp"] - logp)  # here
clipped = torch.clamp(ratio, 1 - eps, 1 + eps) * adv
""",
        """
class Ppo:
    def evaluate(self, obs, act):
        dist = Categorical(logits=net(obs))
        return dist.log_prob(act), dist.entropy()

    def update(self, obs, act, before, adv):
        now, entropy = self.evaluate(obs, act)
        change = before.detach() - now  # here
        ratio = change.exp()
        return -torch.min(ratio * adv, ratio.clamp(0.8, 1.2) * adv).mean()
""",
    ],
)
def test_fires_where_the_learned_one_is_taken_away(code):
    points_at(RatioUpsideDown(), _HEAD + code)


def test_fires_with_a_mend():
    finding = points_at(
        RatioUpsideDown(),
        _HEAD
        + """
new = Categorical(logits=net(obs)).log_prob(act)
ratio = torch.exp(old - new)  # here
clipped = torch.clamp(ratio, 0.8, 1.2)
""",
    )
    [edit] = finding.edits
    assert (edit.text, edit.column, edit.end_column) == ("new - old", 19, 28)


@pytest.mark.parametrize(
    "code",
    [
        "new = Categorical(logits=net(o)).log_prob(a)\nratio = torch.exp(new - old)\nx = torch.clamp(ratio, 0.8, 1.2)",
        "new = Categorical(logits=net(o)).log_prob(a)\nkl = (ref - new).exp() - (ref - new) - 1",
        "new = Categorical(logits=net(o)).log_prob(a)\nw = torch.exp(mu - pi)\nrho = torch.clamp(w, max=1.0)",
        "new = Categorical(logits=net(o)).log_prob(a).detach()\nr = torch.exp(old - new).clamp(0.8, 1.2)",
        "std = torch.clamp(torch.exp(log_std), 0.01, 2.0)",
    ],
)
def test_quiet_about_ratios_of_new_over_old(code):
    quiet(RatioUpsideDown(), text(_HEAD + code))
