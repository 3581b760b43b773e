import numpy as np

from tests.rules.generations import found, lacking, rounds, sound

CODE = "POL521"


def test_fires_on_the_fault():
    (finding,) = found(CODE, rounds(sound(mask_truncated_completions=True), learned=0, ended=0))
    assert finding.component == "policy-loss"
    assert "192 of 192" in finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE, sound())
    assert not found(CODE, rounds(sound(), learned=lambda each: np.arange(len(each)) % 2))
    assert lacking(CODE, sound(rounds=0))
