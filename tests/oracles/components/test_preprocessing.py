"""The oracle of preprocessing."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rldebug.oracles.components.preprocessing import PREPROCESSING, cases, drawn, reference, variant
from rldebug.oracles.verification import verification_of


def test_reference_and_variant_agree():
    for case in cases():
        right, made = reference(case), variant(case)
        assert right.keys() == made.keys()
        for name in right:
            np.testing.assert_allclose(made[name], right[name], atol=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.composite(drawn)())
def test_reference_and_variant_agree_on_drawn(case):
    for name, value in reference(case).items():
        np.testing.assert_allclose(variant(case)[name], value, atol=1e-9)


def test_no_two_mistakes_are_the_same():
    seen = {}
    for mistake in PREPROCESSING.mistakes:
        for way in mistake.ways:
            answer = str([{k: np.round(v, 6).tolist() for k, v in variant(case, **way).items()} for case in cases()])
            assert seen.setdefault(answer, mistake.name) == mistake.name, way


def test_images_of_another_size_are_not_judged():
    found = verification_of(lambda image: image[::2, ::2, 0], PREPROCESSING, drawn=0)
    assert found.outcome == "unusable"
    assert "size of the image" in found.reason
