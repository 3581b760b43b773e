import numpy as np

from tests.rules.generations import found, lacking, rounds, sound

CODE = "NET511"


def test_fires_on_the_fault():
    (finding,) = found(CODE, rounds(sound(), alone_model=0.4, alone=0.4))
    assert finding.component == "network"
    assert "0.4 nats" in finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE, sound())
    assert not found(CODE, rounds(sound(), alone_model=1e-3, alone=0.4))
    assert lacking(CODE, rounds(sound(), alone_model=np.nan))
