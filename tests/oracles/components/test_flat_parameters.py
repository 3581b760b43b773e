"""The oracle of flat parameters."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rldebug.oracles.components.flat_parameters import FLAT_PARAMETERS, cases, drawn, reference, told, variant
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
    both = [told(case, bound) for case in cases() for bound in (frozenset(), frozenset({"flat"}))]
    for mistake in FLAT_PARAMETERS.mistakes:
        for way in mistake.ways:
            answer = str([{k: np.round(v, 6).tolist() for k, v in variant(case, **way).items()} for case in both])
            assert seen.setdefault(answer, mistake.name) == mistake.name, way


def test_one_that_raises_on_weights_stored_by_columns_gets_a_note():
    found = verification_of(lambda model: torch.cat([p.view(-1) for p in model.parameters()]), FLAT_PARAMETERS, drawn=0)
    assert found.outcome == "right"
    assert "stored by columns" in found.notes[0]
