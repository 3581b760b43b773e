"""The projection of C51."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rldebug.oracles.components.categorical_projection import CATEGORICAL_PROJECTION, reference, variant


def test_by_hand():
    case = CATEGORICAL_PROJECTION.cases()[3].but(n=1)  # 0.25 and the end: between the atoms 0 and 1
    assert reference(case)["projection"][0].tolist() == [0, 0, 0.75, 0.25, 0]


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_no_probability_is_lost(data):
    case = CATEGORICAL_PROJECTION.drawn(data.draw)
    np.testing.assert_allclose(variant(case)["projection"].sum(axis=1), 1.0)


def test_exact_hits_lose_all_or_gain_where_that_is_the_mistake():
    case = CATEGORICAL_PROJECTION.cases()[4].but(n=1)
    assert variant(case, hits="lost")["projection"][0].sum() == 0
    assert variant(case, hits="doubled")["projection"][0].sum() > 1


def test_variant_is_reference_on_the_ladder():
    for case in CATEGORICAL_PROJECTION.cases():
        for name, right in reference(case).items():
            np.testing.assert_allclose(variant(case)[name], right, err_msg=f"{case.name}: {name}", atol=1e-9)


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_variant_is_reference_on_drawn_cases(data):
    case = CATEGORICAL_PROJECTION.drawn(data.draw)
    for name, right in reference(case).items():
        np.testing.assert_allclose(variant(case)[name], right, atol=1e-9)
