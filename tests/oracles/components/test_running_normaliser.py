"""The oracle of running normalisers."""

from __future__ import annotations

import inspect

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rldebug.oracles.components.running_normaliser import RUNNING_NORMALISER, cases, drawn, reference, variant
from rldebug.oracles.material.normalisers import ROWS, adapt
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
    for mistake in RUNNING_NORMALISER.mistakes:
        for way in mistake.ways:
            answer = str([{k: np.round(v, 6).tolist() for k, v in variant(case, **way).items()} for case in cases()])
            assert seen.setdefault(answer, mistake.name) == mistake.name, way


class Rows:
    def __init__(self, shape):
        self.n, self.mean, self.S = 0, np.zeros(shape), np.zeros(shape)

    def update(self, x):
        self.n += 1
        old = self.mean
        self.mean = old + (x - old) / self.n
        self.S = self.S + (x - old) * (x - self.mean)


class NeedsAnEnvironment:
    def __init__(self, env):
        self.mean = env.observation_space.sample()

    def update(self, x):
        self.mean = x.mean(0)


def test_rows_and_batches_are_told_apart():
    assert list(inspect.signature(adapt(Rows)).parameters) == [ROWS]


def test_an_object_is_judged_like_its_class_and_left_as_it_was():
    thing = Rows((2,))
    assert verification_of(thing, RUNNING_NORMALISER, drawn=5).outcome == "right"
    assert thing.n == 0


def test_what_cannot_be_made_is_not_judged():
    found = verification_of(NeedsAnEnvironment, RUNNING_NORMALISER, drawn=0)
    assert found.outcome == "unusable"
    assert "could not be made" in found.reason
