"""Discounted returns."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rldebug.oracles.components.discounted_return import DISCOUNTED_RETURN, reference, variant
from rldebug.oracles.material.steps import draw_steps


def test_by_hand():
    (case,) = (each for each in DISCOUNTED_RETURN.cases() if each.name == "three steps, the last terminates")
    assert reference(case)["return"][:, 0].tolist() == [1 + 1 + 0.75, 2 + 1.5, 3]


def test_variant_is_reference_on_the_ladder():
    for case in DISCOUNTED_RETURN.cases():
        for name, right in reference(case).items():
            np.testing.assert_allclose(variant(case)[name], right, err_msg=f"{case.name}: {name}")


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_variant_is_reference_on_drawn_cases(data):
    case = draw_steps(data.draw)
    for name, right in reference(case).items():
        np.testing.assert_allclose(variant(case)[name], right, atol=1e-9)
