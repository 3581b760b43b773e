"""Targets that are distributions over returns are explained by their means."""

from tests.programs.value_learners import GAMMA, categorised

from rldebug.forensics.targets import fit_targets


def test_the_discount_and_the_ends_are_found():
    (fit,) = fit_targets(categorised())
    assert abs((fit.gamma or 0) - GAMMA) < 1e-3
    assert fit.name.startswith("max of")
    assert fit.rightly("terminated")


def test_a_missing_mask_is_seen():
    (fit,) = fit_targets(categorised("unmasked"))
    assert fit.ending("terminated", "follows") is not None
