"""Retrace(λ)."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rldebug.oracles.components.retrace import RETRACE, drawn, reference, variant


def test_by_hand():
    (case,) = (each for each in RETRACE.cases() if each.name == "two steps")  # Q = 2, 3.5; V = 4, 5, then 8
    last = 2 + 0.5 * 8
    first = 1 + 0.5 * 5 + 0.5 * (0.8 * 0.5) * (last - 3.5)  # the ratio of the second step is a half
    np.testing.assert_allclose(reference(case)["target"][:, 0], [first, last])


def test_all_action_values_agree_with_those_of_the_actions_taken():
    for case in RETRACE.cases():
        q, pi = (RETRACE.quantity(name).take(case) for name in ("q_all", "pi_all"))
        np.testing.assert_allclose((q * pi).sum(-1)[:-1], case["value"])
        np.testing.assert_allclose((q * pi).sum(-1)[-1], case["last_value"])
        np.testing.assert_allclose(np.take_along_axis(q[:-1], case["action"][..., None], -1)[..., 0], case["q"])


def test_variant_is_reference_on_the_ladder():
    for case in RETRACE.cases():
        for name, right in reference(case).items():
            np.testing.assert_allclose(variant(case)[name], right, err_msg=f"{case.name}: {name}")


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_variant_is_reference_on_drawn_cases(data):
    case = drawn(data.draw)
    for name, right in reference(case).items():
        np.testing.assert_allclose(variant(case)[name], right, atol=1e-9)
