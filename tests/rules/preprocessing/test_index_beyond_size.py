import gymnasium as gym
import torch
from torch.nn import functional as F

from rldebug.rules.preprocessing.index_beyond_size import IndexBeyondSize
from tests.judge import quiet
from tests.rules.crashes import crashed, names


class Rooms(gym.Env):
    observation_space, action_space = gym.spaces.Discrete(9), gym.spaces.Discrete(3)

    def reset(self, **_):
        return 8, {}

    def step(self, action):
        return 8, 0.0, False, False, {}


def one_hot(number, size):
    rooms = Rooms()
    rooms.reset()
    return F.one_hot(torch.tensor(number), size)


def test_fires_when_a_state_is_beyond_what_was_counted_by_hand():
    finding = names(IndexBeyondSize(), crashed(lambda: one_hot(8, 6)))
    assert "rooms.observation_space.n, which is 9" in finding.help


def test_quiet_when_it_may_be_an_action():
    quiet(IndexBeyondSize(), crashed(lambda: one_hot(2, 2)))
