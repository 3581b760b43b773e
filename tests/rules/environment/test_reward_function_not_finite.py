import numpy as np

from tests.rules.generations import found, lacking, rounds, sound

CODE = "ENV511"


def test_fires_on_the_fault():
    (finding,) = found(CODE, rounds(sound(), not_a_number=lambda each: np.arange(len(each)) == each.number))
    assert finding.component == "environment"
    assert "for 12 of 192" in finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE, sound())
    assert not found(CODE, rounds(sound(), unscored=1))  # None is no mistake
    assert lacking(CODE, sound(rounds=0))
