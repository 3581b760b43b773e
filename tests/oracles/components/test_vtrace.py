"""V-trace."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rldebug.oracles.components.vtrace import VTRACE, drawn, reference, variant


def test_on_policy_it_is_the_n_step_return():
    (case,) = (each for each in VTRACE.cases() if each.name == "three steps, the last terminates")
    case = case.but(behaviour_logp=case["target_logp"])
    assert reference(case)["vs"][:, 0].tolist() == [1 + 0.5 * 2 + 0.25 * 3, 2 + 0.5 * 3, 3]


def test_variant_is_reference_on_the_ladder():
    for case in VTRACE.cases():
        for name, right in reference(case).items():
            np.testing.assert_allclose(variant(case)[name], right, err_msg=f"{case.name}: {name}")


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_variant_is_reference_on_drawn_cases(data):
    case = drawn(data.draw)
    for name, right in reference(case).items():
        np.testing.assert_allclose(variant(case)[name], right, atol=1e-9)
