import numpy as np

from tests.rules.generations import found, lacking, passes, sound

CODE = "POL513"


def test_fires_on_the_fault():
    (finding,) = found(CODE, passes(sound(), outside=lambda each: each.column("force")))
    assert finding.component == "policy-loss"
    assert "50%" in finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE, sound())
    assert not found(CODE, passes(sound(), outside=1e-9))
    assert lacking(CODE, passes(sound(), outside=np.nan))
