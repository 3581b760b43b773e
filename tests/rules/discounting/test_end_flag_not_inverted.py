import pytest

from rldebug.rules.discounting.end_flag_not_inverted import EndFlagNotInverted
from tests.judge import quiet
from tests.rules.sources import points_at, text

_HEAD = """
import torch
from torch import nn
critic = nn.Linear(4, 1)
"""


@pytest.mark.parametrize(
    "code",
    [
        """
after, r, terminated, truncated, _ = env.step(a)
target = r + 0.99 * critic(after) * terminated  # here
""",
        """
class Agent:
    def play(self, env):
        nxt, rew, term, trunc, _ = env.step(self.act())
        over = term or trunc
        self.memory.append((self.obs, self.action, rew, nxt, over))

    def learn(self):
        s, a, r, s2, mask = self.memory.sample(64)
        mask = torch.as_tensor(mask).float().unsqueeze(1)
        with torch.no_grad():
            return r + self.gamma * mask * critic(s2)  # here
""",
    ],
)
def test_fires_where_the_flag_itself_is_a_factor(code):
    points_at(EndFlagNotInverted(), _HEAD + code)


@pytest.mark.parametrize(
    "code",
    [
        "s2, r, term, trunc, _ = env.step(a)\ntarget = r + 0.99 * critic(s2) * (1 - term)",
        "s2, r, term, trunc, _ = env.step(a)\ntarget = r + 0.99 * critic(s2) * (not term)",
        "s2, r, term, trunc, _ = env.step(a)\nmask = 1.0 - float(term)\ntarget = r + 0.99 * mask * critic(s2)",
        """
def play():
    s2, r, term, trunc, _ = env.step(a)
    memory.append((s, a, r, s2, 1 - term))
def learn():
    s, a, r, s2, m = batch
    y = r + 0.99 * m * critic(s2)
""",
        "s2, r, term, trunc, _ = env.step(a)\ntarget = r + 0.99 * critic(s2) * ~torch.tensor(term)",
        "y = r + 0.99 * mask * critic(s2)",
    ],
)
def test_quiet_about_masks(code):
    quiet(EndFlagNotInverted(), text(_HEAD + code))
