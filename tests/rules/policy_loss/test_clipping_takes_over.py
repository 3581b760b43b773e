from tests.rules.generations import found, lacking, passes, sound

CODE = "POL519"


def test_fires_on_the_fault():
    (finding,) = found(CODE, passes(sound(), age=1, clipped=0.6))
    assert finding.component == "policy-loss"
    assert "60%" in finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE, sound())
    assert not found(CODE, passes(sound(), age=1, clipped=0.1))
    assert lacking(CODE, passes(sound(), clipped=0.6))  # first passes
