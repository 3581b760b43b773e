"""TD(λ) returns."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rldebug.oracles.components.td_lambda import TD_LAMBDA, reference, variant
from rldebug.oracles.material.steps import draw_steps


def test_by_hand():
    (case,) = (each for each in TD_LAMBDA.cases() if each.name == "three steps, the last terminates")
    last = 3.0
    middle = 2 + 0.5 * (0.2 * 6 + 0.8 * last)
    first = 1 + 0.5 * (0.2 * 5 + 0.8 * middle)
    np.testing.assert_allclose(reference(case)["return"][:, 0], [first, middle, last])


def test_variant_is_reference_on_the_ladder():
    for case in TD_LAMBDA.cases():
        for name, right in reference(case).items():
            np.testing.assert_allclose(variant(case)[name], right, err_msg=f"{case.name}: {name}")


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_variant_is_reference_on_drawn_cases(data):
    case = draw_steps(data.draw)
    for name, right in reference(case).items():
        np.testing.assert_allclose(variant(case)[name], right, atol=1e-9)
