import numpy as np
from tests.rules.generations import passes, rounds, sound

from rldebug.forensics.answers import correlations, one_place_off


def test_columns_are_compared_within_groups():
    evidence = rounds(sound(), tokens=lambda each: each.column("reward") * 3 + 100 * each.column("group"))
    found = correlations(evidence, "reward", "tokens")
    assert len(found) == 48
    assert np.allclose(found, 1.0)
    assert len(correlations(evidence, "reward", "tokens", late=True)) == 24


def test_groups_in_which_one_does_not_differ_are_left_out():
    assert not len(correlations(rounds(sound(), tokens=5), "reward", "tokens"))
    assert not len(correlations(rounds(sound(), reward=np.nan), "reward", "tokens"))


def test_log_probs_that_fit_once_they_are_moved():
    assert one_place_off(passes(sound(), sampled_k3=3.0, shifted_k3=0.01))
    assert not one_place_off(passes(sound(), sampled_k3=3.0, shifted_k3=2.0))
    assert not one_place_off(passes(sound(), sampled_k3=np.nan))
