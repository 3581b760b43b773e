import gymnasium as gym
import torch
from torch import nn

from rldebug.rules.preprocessing.input_width_differs import InputWidthDiffers
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_an_axis_is_put_at_the_end():
    def program():
        env = gym.make("CartPole-v1")
        obs, _ = env.reset(seed=0)
        return nn.Sequential(nn.Linear(4, 8), nn.Tanh())(torch.as_tensor(obs).unsqueeze(-1))

    finding = names(InputWidthDiffers(), crashed(program))
    assert "fed with (4, 1) float32" in finding.seen
    assert "observations are (4,)" in finding.seen


def test_fires_when_observation_and_action_side_by_side_are_too_wide():
    class Critic(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder, self.q = nn.Linear(9, 4), nn.Linear(5, 1)

        def forward(self, obs, action):
            return self.q(torch.cat([obs, action], -1))

    names(InputWidthDiffers(), crashed(lambda: Critic()(torch.zeros(2, 4), torch.zeros(2, 3))))


def test_quiet_when_a_layer_further_in_refuses():
    quiet(InputWidthDiffers(), crashed(lambda: nn.Sequential(nn.Linear(4, 8), nn.Linear(9, 1))(torch.zeros(2, 4))))
