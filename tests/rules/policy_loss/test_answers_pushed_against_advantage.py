import numpy as np

from tests.rules.generations import found, lacking, passes, sound

CODE = "POL516"


def test_fires_on_the_fault():
    (finding,) = found(CODE, passes(sound(), push=lambda each: -each.column("push")))
    assert finding.component == "policy-loss"
    assert "0%" in finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE, sound())
    assert not found(CODE, passes(sound(), push=lambda each: -each.column("push"), advantage=0.01))
    assert not found(CODE, passes(sound(), push=lambda each: -each.column("push"), age=1))
    assert lacking(CODE, passes(sound(), push=np.nan))


def test_fires_where_pushes_belong_to_others():
    (finding,) = found(CODE, passes(sound(), push=lambda each: np.roll(each.column("push"), 3)))
    assert "follow one row" in finding.help
