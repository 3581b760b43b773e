"""The quantile Huber loss."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rldebug.oracles.components.quantile_loss import QUANTILE_LOSS, reference, variant


def test_the_loss_is_least_where_the_quantiles_are():
    outcomes = np.linspace(0.0, 1.0, 101)[None]
    case = QUANTILE_LOSS.cases()[0].but(target=outcomes, tau=np.asarray([[0.2, 0.9]]), kappa=0.001)

    def loss(first, second):
        return variant(case.but(quantiles=np.asarray([[first, second]])))["loss"]

    assert loss(0.2, 0.9) < min(loss(0.3, 0.9), loss(0.1, 0.9), loss(0.2, 0.8), loss(0.9, 0.2))


def test_gradient_is_what_torch_says():
    (case,) = (each for each in QUANTILE_LOSS.cases() if each.name == "two rows, own fractions")
    quantiles = torch.tensor(case["quantiles"], requires_grad=True)
    error = torch.tensor(case["target"])[:, None, :] - quantiles[:, :, None]
    weight = (torch.tensor(case["tau"])[:, :, None] - (error < 0).double()).abs()
    huber = torch.nn.functional.huber_loss(error, torch.zeros_like(error), reduction="none")
    (weight * huber).sum(1).mean(1).mean().backward()
    np.testing.assert_allclose(variant(case)["grad:quantiles"], quantiles.grad.numpy())


def test_variant_is_reference_on_the_ladder():
    for case in QUANTILE_LOSS.cases():
        for name, right in reference(case).items():
            np.testing.assert_allclose(variant(case)[name], right, err_msg=f"{case.name}: {name}", atol=1e-9)


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_variant_is_reference_on_drawn_cases(data):
    case = QUANTILE_LOSS.drawn(data.draw)
    for name, right in reference(case).items():
        np.testing.assert_allclose(variant(case)[name], right, atol=1e-9)
