import torch
from torch import nn

from rldebug.rules.preprocessing.index_beyond_embedding import IndexBeyondEmbedding
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_a_state_is_beyond():
    names(IndexBeyondEmbedding(), crashed(lambda: nn.Embedding(4, 2)(torch.tensor([4]))))


def test_fires_when_a_state_is_of_floats():
    names(IndexBeyondEmbedding(), crashed(lambda: nn.Embedding(4, 2)(torch.zeros(1))))


def test_quiet_when_an_action_is_beyond_the_outputs():
    quiet(IndexBeyondEmbedding(), crashed(lambda: torch.zeros(5, 2).gather(1, torch.full((5, 1), 2))))
