"""The oracle of the schedule of ε."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rldebug.oracles.components.epsilon_schedule import EPSILON_SCHEDULE, cases, drawn, reference, variant
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
    for mistake in EPSILON_SCHEDULE.mistakes:
        for way in mistake.ways:
            answer = str([{k: np.round(v, 6).tolist() for k, v in variant(case, **way).items()} for case in cases()])
            assert seen.setdefault(answer, mistake.name) == mistake.name, way


class Piecewise:
    """An object with numbers of its own, asked by value(t)."""

    def value(self, t):
        return 1.0 if t < 100 else 0.1


def test_a_schedule_with_numbers_of_its_own_is_judged_by_what_every_schedule_does():
    found = verification_of(Piecewise(), EPSILON_SCHEDULE)
    assert found.outcome == "right"
    assert "only checked" in found.notes[0]


def test_one_that_rises_is_named():
    found = verification_of(lambda step: min(1.0, 0.1 + step / 1e4), EPSILON_SCHEDULE)
    assert found.matched == ("epsilon-schedule-grows",)
