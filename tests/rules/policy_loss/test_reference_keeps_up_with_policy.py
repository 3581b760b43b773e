import numpy as np

from tests.rules.generations import facts, found, lacking, passes, sound

CODE = "POL518"


def test_fires_on_the_fault():
    (finding,) = found(CODE, passes(sound(), reference=0.0))
    assert finding.component == "policy-loss"
    assert "10 passes" in finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE, sound())
    assert not found(CODE, facts(passes(sound(), reference=0.0), moved=0.0))  # OPT511 tells that
    assert lacking(CODE, passes(sound(), reference=np.nan))
