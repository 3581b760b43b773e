from tests.rules.generations import found, lacking, passes, sound

CODE = "POL520"


def test_fires_on_the_fault():
    (finding,) = found(CODE, passes(sound(), age=2, old=False))
    assert finding.component == "policy-loss"
    assert "12 of 12" in finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE, sound())
    assert not found(CODE, passes(sound(), age=2))
    assert lacking(CODE, passes(sound(), old=False))  # each answer is used once
