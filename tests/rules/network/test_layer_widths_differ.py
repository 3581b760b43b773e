import gymnasium as gym
import torch
from torch import nn

from rldebug.rules.network.layer_widths_differ import LayerWidthsDiffer
from tests.judge import quiet
from tests.rules.crashes import crashed, names


class Net(nn.Module):
    def __init__(self, wide=8):
        super().__init__()
        self.trunk, self.head = nn.Linear(4, 8), nn.Linear(wide, 2)

    def forward(self, obs):
        return self.head(self.trunk(obs).tanh())


def test_fires_when_the_head_is_made_for_another_width():
    names(LayerWidthsDiffer(), crashed(lambda: Net(16)(torch.zeros(5, 4))))


def test_fires_when_the_first_layer_is_made_for_another_environment():
    def program():
        env = gym.make("MountainCar-v0")
        obs, _ = env.reset(seed=0)
        return Net()(torch.as_tensor(obs))

    names(LayerWidthsDiffer(), crashed(program))


def test_quiet_when_what_is_fed_is_at_fault():
    def program():
        env = gym.make("CartPole-v1")
        obs, _ = env.reset(seed=0)
        return Net()(torch.as_tensor(obs).unsqueeze(-1))

    quiet(LayerWidthsDiffer(), crashed(program))
