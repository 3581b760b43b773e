from tests.programs.policies import found

CODE = "POL304"


def test_fires_where_the_range_lies_around_zero():
    (finding,) = found(CODE, "clip around 0")
    assert finding.component == "policy-loss"
    assert finding.seen


def test_quiet_where_the_range_lies_around_one():
    assert not found(CODE)
