import numpy as np

from tests.rules.generations import found, lacking, rounds, sound

CODE = "PRE510"


def test_fires_on_the_fault():
    (finding,) = found(CODE, rounds(sound(), begins_twice=1))
    assert finding.component == "preprocessing"
    assert "192 of 192" in finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE, sound())
    assert not found(CODE, rounds(sound(), begins_twice=lambda each: np.arange(len(each)) < 4))
    assert lacking(CODE, sound(rounds=0))
