import numpy as np

from tests.rules.generations import found, lacking, passes, rounds, sound

CODE = "POL515"


def test_fires_on_the_fault():
    (finding,) = found(CODE, rounds(sound(), end_left_out=1))
    assert finding.component == "policy-loss"
    assert "192 of 192" in finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE, sound())
    assert not found(CODE, rounds(sound(), end_left_out=1, ended=lambda each: np.arange(len(each)) > 99))
    assert lacking(CODE, rounds(sound(), ended=0))


def test_fires_where_the_last_token_has_no_gradient():
    (finding,) = found(CODE, passes(sound(), last=0.0))
    assert "no gradient" in finding.message
