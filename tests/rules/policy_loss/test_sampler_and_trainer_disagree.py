import numpy as np

from tests.rules.generations import found, lacking, passes, sound

CODE = "POL510"


def test_fires_on_the_fault():
    (finding,) = found(CODE, passes(sound(), sampled_k3=0.4, sampled=0.7))
    assert finding.component == "policy-loss"
    assert "0.4 nats" in finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE, sound())
    assert not found(CODE, passes(sound(), sampled_k3=0.4, renormalised=1))  # top-p
    assert not found(CODE, passes(sound(), sampled_k3=1e-3))  # another precision
    assert not found(CODE, passes(sound(), sampled_k3=0.4, age=1))  # after an update
    assert lacking(CODE, passes(sound(), sampled_k3=np.nan))


def test_says_where_they_are_off_by_one_place():
    (finding,) = found(CODE, passes(sound(), sampled_k3=3.0, shifted_k3=1e-3))
    assert "one place" in finding.message


def test_a_small_difference_is_a_warning():
    assert found(CODE, passes(sound(), sampled_k3=0.05))[0].severity == "warning"
