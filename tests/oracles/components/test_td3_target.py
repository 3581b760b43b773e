"""The target of TD3."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rldebug.oracles.components.td3_target import TD3_TARGET, reference, variant
from rldebug.oracles.material.not_random import not_random


def test_by_hand():
    case = TD3_TARGET.cases()[0].but(n=1)  # the noise of −0.75 is clipped to −0.375
    first, second = 4 + 2 * -0.375, 6 - -0.375
    assert reference(case)["target"].tolist() == [3 + 0.5 * min(first, second)]


def test_numbers_are_not_random_within_and_are_so_again_after():
    before = torch.randn
    with not_random():
        column = torch.zeros(3, 1)
        every = [torch.randn_like(column), torch.randn(3, 1), torch.normal(0.0, 1.0, size=(3, 1))]
        every += [column.clone().normal_(0, 1), torch.distributions.Normal(torch.zeros(3, 1), 1.0).sample()]
        every += [torch.tensor(each) for each in (np.random.normal(size=(3, 1)), np.random.randn(3, 1))]
    assert [each.flatten().tolist() for each in every] == [[-3.0, 1.0, 0.5]] * 7
    assert torch.randn is before


def test_variant_is_reference_on_the_ladder():
    for case in TD3_TARGET.cases():
        for name, right in reference(case).items():
            np.testing.assert_allclose(variant(case)[name], right, err_msg=f"{case.name}: {name}", atol=1e-9)


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_variant_is_reference_on_drawn_cases(data):
    case = TD3_TARGET.drawn(data.draw)
    for name, right in reference(case).items():
        np.testing.assert_allclose(variant(case)[name], right, atol=1e-9)
