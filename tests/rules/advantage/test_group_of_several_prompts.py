import numpy as np

from tests.rules.generations import found, lacking, rounds, sound

CODE = "ADV510"


def test_fires_on_the_fault():
    (finding,) = found(CODE, rounds(sound(), text=lambda each: np.arange(len(each))))
    assert finding.component == "advantage"
    assert "48 of 48" in finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE, sound())
    assert not found(CODE, rounds(sound(), text=1))  # one prompt for all is no mixture
    assert lacking(CODE, sound(rounds=0))
