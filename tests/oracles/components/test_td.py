"""TD(0)."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rldebug.oracles.components.td import TD, cases, drawn, reference, variant


def test_by_hand():
    (case,) = (each for each in cases() if each.name == "two transitions, the first terminates")
    assert reference(case)["target"].tolist() == [1, 2 + 0.5 * 6]


def test_variant_is_reference_on_the_ladder():
    for case in TD.cases():
        for name, right in reference(case).items():
            np.testing.assert_allclose(variant(case)[name], right, err_msg=f"{case.name}: {name}")


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_variant_is_reference_on_drawn_cases(data):
    case = drawn(data.draw)
    for name, right in reference(case).items():
        np.testing.assert_allclose(variant(case)[name], right, atol=1e-9)
