import numpy as np

from rldebug.evidence.run import Run
from rldebug.rules.policy_loss.kl_negative import KlNegative
from tests.judge import fires, not_enough, quiet

K1 = list(0.002 + 0.004 * np.random.default_rng(0).standard_normal(40))


def test_fires_when_new_and_old_are_swapped():
    finding = fires(KlNegative(), Run.from_series({"policy/kl_given": [-each for each in K1], "policy/kl_k1": K1}))
    assert "opposite" in finding.message


def test_fires_when_the_divergence_is_negative_throughout():
    fires(KlNegative(), Run.from_series({"policy/kl_given": [-0.02, -0.03, -0.01, -0.02] * 5}))


def test_quiet_when_the_plain_estimator_is_noisy():
    quiet(KlNegative(), Run.from_series({"policy/kl_given": K1, "policy/kl_k1": K1}))


def test_quiet_when_the_plain_estimator_is_negative_on_the_rows_it_was_fitted_to():
    below = [-0.01 - abs(each) for each in K1]
    quiet(KlNegative(), Run.from_series({"policy/kl_given": below, "policy/kl_k1": below}))


def test_quiet_when_the_divergence_is_positive():
    quiet(KlNegative(), Run.from_series({"policy/kl_given": [0.01, 0.002, 0.03] * 5, "policy/kl_k1": K1[:15]}))


def test_declines_on_zeros():
    not_enough(KlNegative(), Run.from_series({"policy/kl_given": [0.0] * 30}))
