"""Layers that a policy reads as data, and a regression trains."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.distributions import Categorical

from rldebug.capture.loss_terms import terms_of

ROWS = 8
STATES = torch.randn(ROWS, 4, generator=torch.Generator().manual_seed(0))
GAIN, GOAL = torch.linspace(-1, 1, ROWS), torch.ones(ROWS)
TRUNK, HEAD, VALUE = nn.Sequential(nn.Linear(4, 6), nn.Tanh()), nn.Linear(6, 3), nn.Linear(6, 1)


def cut_off(features: Tensor, judged: Tensor, more: Tensor | float = 0.0) -> set[int]:
    logp = Categorical(logits=HEAD(features)).log_prob(torch.arange(ROWS) % 3)
    loss = -(logp * GAIN).mean() + (VALUE(judged).squeeze(-1) - GOAL).square().mean() + more
    (term,) = [each for each in terms_of(loss) if each.kind == "policy"]
    return term.cut_off


@pytest.mark.parametrize("twice", [False, True])
def test_features_that_are_detached_for_the_policy(twice: bool) -> None:
    features = TRUNK(STATES)
    with torch.no_grad():
        own = TRUNK(STATES) if twice else features.detach()
    assert cut_off(own, features) == {id(each) for each in TRUNK.parameters()}


def test_features_that_both_learn_or_that_the_value_head_is_kept_from() -> None:
    features = TRUNK(STATES)
    assert cut_off(features, features) == set()
    assert cut_off(features, features.detach()) == set()


def test_features_that_something_else_trains() -> None:
    features = TRUNK(STATES)
    model = nn.Linear(6, 4)
    assert cut_off(features.detach(), features, (model(features) - STATES).square().mean()) == set()


def test_networks_of_their_own() -> None:
    own = nn.Sequential(nn.Linear(4, 6), nn.Tanh())
    assert cut_off(own(STATES), TRUNK(STATES)) == set()
