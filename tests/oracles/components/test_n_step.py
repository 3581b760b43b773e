"""n-step returns."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rldebug.oracles.components.n_step import N_STEP, drawn, reference, variant


def test_by_hand():
    (case,) = (each for each in N_STEP.cases() if each.name == "three steps, the last terminates")
    assert reference(case)["target"][:, 0].tolist() == [1 + 0.5 * 2 + 0.25 * 6, 2 + 0.5 * 3, 3]


def test_variant_is_reference_on_the_ladder():
    for case in N_STEP.cases():
        for name, right in reference(case).items():
            np.testing.assert_allclose(variant(case)[name], right, err_msg=f"{case.name}: {name}")


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_variant_is_reference_on_drawn_cases(data):
    case = drawn(data.draw)
    for name, right in reference(case).items():
        np.testing.assert_allclose(variant(case)[name], right, atol=1e-9)
