"""Distributions whose entropy stands in a loss, without a log-prob."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.distributions import Categorical

from rldebug.capture.loss_terms import terms_of

ROWS = 8
STATES = torch.randn(ROWS, 4, generator=torch.Generator().manual_seed(0))
GAIN = torch.linspace(-1, 1, ROWS)


def policy(loss: Tensor) -> tuple[tuple[int, ...], tuple[int, ...]]:
    (term,) = [each for each in terms_of(loss) if each.kind == "policy"]
    return term.entropies, term.unpicked


def weighted(*logps: Tensor) -> Tensor:
    return -(sum(logps) * GAIN).mean()


def taken(choices: int) -> Tensor:
    return torch.arange(ROWS) % choices


def test_parts_of_one_layer_are_told_apart_though_they_are_cut_out_twice() -> None:
    layer = nn.Linear(4, 6)
    heads = [Categorical(logits=layer(STATES)[:, each]) for each in (slice(0, 3), slice(3, 6))]
    again = [Categorical(logits=layer(STATES)[:, each]) for each in (slice(0, 3), slice(3, 6))]
    entropy = sum(each.entropy() for each in again).mean()
    scored = [each.log_prob(taken(3)) for each in heads]
    assert policy(weighted(*scored) - 0.01 * entropy) == ((3, 3), ())
    assert policy(weighted(scored[0]) - 0.01 * entropy) == ((3, 3), (3,))


def test_layers_of_their_own() -> None:
    heads = [Categorical(logits=nn.Linear(4, choices)(STATES)) for choices in (2, 5)]
    entropy = sum(each.entropy() for each in heads).mean()
    scored = [each.log_prob(taken(each.logits.shape[1])) for each in heads]
    assert policy(weighted(*scored) - 0.01 * entropy) == ((2, 5), ())
    assert policy(weighted(scored[1]) - 0.01 * entropy) == ((2, 5), (2,))


def test_what_is_masked_in_one_place_only_is_the_same() -> None:
    scores = nn.Linear(4, 3)(STATES)
    allowed = torch.ones(ROWS, 3, dtype=torch.bool)
    allowed[::2, 2] = False
    logp = Categorical(logits=scores.masked_fill(~allowed, -1e9)).log_prob(taken(2))
    assert policy(weighted(logp) - 0.01 * Categorical(logits=scores).entropy().mean()) == ((3,), ())


def test_steps_of_one_network_are_the_same() -> None:
    layer = nn.Linear(4, 3)
    steps = [Categorical(logits=layer(STATES[t : t + 1])) for t in range(ROWS)]
    logp = torch.cat([each.log_prob(taken(3)[t : t + 1]) for t, each in enumerate(steps[:-1])])
    entropy = torch.cat([each.entropy() for each in steps]).mean()
    assert policy(-(logp * GAIN[:-1]).mean() - 0.01 * entropy) == ((3,), ())


def test_one_that_another_loss_is_made_of_is_not_left_out() -> None:
    one, other = (Categorical(logits=nn.Linear(4, 3)(STATES)) for _ in range(2))
    loss = weighted(one.log_prob(taken(3))) - 0.01 * (one.entropy() + other.entropy()).mean()
    distilled = loss + (torch.full((ROWS, 3), 1 / 3) * other.logits).sum(-1).mean()
    assert policy(loss) == ((3, 3), (3,))
    assert policy(distilled) == ((3, 3), ())
