import numpy as np

from tests.rules.generations import found, lacking, passes, rounds, sound

CODE = "POL512"


def test_fires_on_the_fault():
    (finding,) = found(CODE, rounds(sound(), alone=0.4, alone_model=1e-6))
    assert finding.component == "policy-loss"
    assert "0.4 nats" in finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE, sound())
    assert not found(CODE, rounds(sound(), alone=0.4, alone_model=0.4))  # the network's own fault
    assert not found(CODE, passes(rounds(sound(), alone=0.4, alone_model=0.0), sampled_k3=3.0, shifted_k3=0.0))
    assert lacking(CODE, rounds(sound(), alone=np.nan))
