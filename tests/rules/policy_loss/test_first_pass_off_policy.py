import numpy as np

from tests.rules.generations import found, lacking, passes, sound

CODE = "POL511"


def test_fires_on_the_fault():
    (finding,) = found(CODE, passes(sound(), log_ratio=0.2))
    assert finding.component == "policy-loss"
    assert "0.2 nats" in finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE, sound())
    assert not found(CODE, passes(sound(), log_ratio=0.2, age=1))
    assert lacking(CODE, passes(sound(), log_ratio=np.nan))
