"""Targets that are quantiles of returns, and rewards that were kept in whole numbers."""

import numpy as np
import torch
from tests.capture.test_loss_terms import K, N, only
from torch import nn

from rldebug.forensics.acting_values import _elsewhere
from rldebug.forensics.target_next import Batch
from rldebug.forensics.target_q import fit_batches
from rldebug.forensics.target_quantiles import means_of


def quantile_loss(quantiles, huber):
    torch.manual_seed(0)
    net, action = nn.Linear(4, K * quantiles), torch.randint(0, K, (N,))
    said = net(torch.randn(N, 4)).reshape(N, quantiles, K)
    taken = said.gather(2, action[:, None, None].expand(N, quantiles, 1)).squeeze(2)
    target = torch.randn(N, quantiles)
    gap = target[:, None, :] - taken[:, :, None]
    chance = (torch.arange(quantiles) + 0.5) / quantiles
    weight = (chance[None, :, None] - (gap.detach() < 0).float()).abs()
    loss = torch.where(gap.abs() > 1, gap.abs() - 0.5, 0.5 * gap**2) if huber else gap**2
    return (weight * loss).sum(1).mean(), target


def test_each_target_of_a_row_is_kept_once():
    for huber in (False, True):
        loss, target = quantile_loss(5, huber)
        term = only(loss, "regression")
        np.testing.assert_allclose(term.arrays["spread"], target.numpy(), atol=2e-6)


def test_an_ordinary_target_has_no_spread():
    net = nn.Linear(4, 1)
    loss = (net(torch.randn(N, 4)).squeeze(1) - torch.randn(N)).square().mean()
    assert "spread" not in only(loss, "regression").arrays


def test_means_for_each_action_in_both_layouts():
    said = np.random.default_rng(0).normal(size=(6, 5, 3))
    np.testing.assert_allclose(means_of(said.reshape(6, -1), [6, 5, 3], 5), said.mean(axis=1))
    turned = said.swapaxes(1, 2)
    np.testing.assert_allclose(means_of(turned.reshape(6, -1), [6, 3, 5], 5), said.mean(axis=1))
    np.testing.assert_array_equal(means_of(said[:, 0], [6, 3], 5), said[:, 0])


def batch(kept):
    draw = np.random.default_rng(1)
    count = 200
    reward, best = draw.normal(size=count) * 2, draw.normal(size=count) * 3
    no, yes = np.zeros(count, dtype=bool), np.ones(count, dtype=bool)
    return Batch(kept(reward) + 0.9 * best, reward, no, no, yes, {"max of q": best}, {}, 0, no)


def test_rewards_in_whole_numbers_are_seen():
    formula = fit_batches([batch(np.trunc)])
    assert formula is not None
    assert formula.stored == "whole"
    assert abs(formula.gamma - 0.9) < 1e-6


def test_rewards_as_they_are_were_not_changed():
    formula = fit_batches([batch(lambda reward: reward)])
    assert formula is not None
    assert (formula.stored, formula.changed) == ("", "")


def test_values_of_a_channel_that_says_the_same():
    acting = {place: place / 7 for place in range(20)}
    head = {**{place: place / 7 for place in range(5, 15)}, 90: 3.0}
    other = {**{place: place / 5 for place in range(5, 15)}, 91: 3.0}
    assert _elsewhere(acting, [head]).get(90) == 3.0
    assert not _elsewhere(acting, [other])


def test_the_action_is_known_where_its_quantiles_are_picked_by_an_index():
    torch.manual_seed(0)
    net, action = nn.Linear(4, K * 5), torch.arange(N) % K
    said = net(torch.randn(N, 4))
    for taken in (
        said.reshape(N, K, 5)[torch.arange(N), action],
        said.reshape(N, 5, K)[torch.arange(N), :, action],
    ):
        gap = torch.randn(N, 5)[:, None, :] - taken[:, :, None]
        index = only(torch.where(gap.abs() > 1, gap.abs() - 0.5, 0.5 * gap**2).sum(1).mean(), "regression").arrays[
            "index"
        ]
        assert len(index) % N == 0
        assert (np.ravel(index).reshape(N, -1) == action.numpy()[:, None]).all()
