"""What the tests of the policy's oracles share."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rldebug.oracles.oracle import Oracle


def assert_variant_is_reference(oracle: Oracle) -> None:
    """On the cases by hand and on those drawn."""
    for case in oracle.cases():
        assert _same(oracle.reference(case), oracle.variant(case)), case.name

    @settings(max_examples=40, deadline=None, database=None)
    @given(st.data())
    def on_drawn(data):
        case = oracle.drawn(data.draw)
        assert _same(oracle.reference(case), oracle.variant(case)), case

    if oracle.drawn is not None:
        on_drawn()


def assert_mistakes_differ(oracle: Oracle) -> None:
    """Every way to make a mistake shows on some case, and no two mistakes give the same on all."""
    made = {}
    for mistake in oracle.mistakes:
        for number, way in enumerate(mistake.ways):
            made[mistake.name, number] = [oracle.variant(case, **way) for case in oracle.cases()]
    right = [oracle.variant(case) for case in oracle.cases()]
    for (name, number), answers in made.items():
        assert not all(map(_same, right, answers)), f"{name}, way {number}, never shows"
    for (one, first), (other, second) in itertools.combinations(made.items(), 2):
        if one[0] != other[0]:
            assert not all(map(_same, first, second)), f"{one[0]} and {other[0]} compute the same"


def _same(one, other) -> bool:
    def alike(a, b):
        if a is None or b is None:
            return not np.any(a if b is None else b)
        return np.shape(a) == np.shape(b) and np.allclose(a, b, atol=1e-8, equal_nan=True)

    return all(alike(one[name], other[name]) for name in one.keys() & other.keys())
