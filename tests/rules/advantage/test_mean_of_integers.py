import torch

from rldebug.rules.advantage.mean_of_integers import MeanOfIntegers
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_rewards_are_whole():
    names(MeanOfIntegers(), crashed(lambda: torch.tensor([1, 0]).mean()))


def test_fires_when_their_spread_is_asked_for():
    names(MeanOfIntegers(), crashed(lambda: torch.tensor([1, 0]).std()))


def test_quiet_when_softmax_is_asked_of_integers():
    quiet(MeanOfIntegers(), crashed(lambda: torch.tensor([1, 0]).softmax(-1)))
