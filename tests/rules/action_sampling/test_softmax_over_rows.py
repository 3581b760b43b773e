from tests.programs.policies import found

CODE = "ACT332"


def test_fires_where_rows_are_compared_with_each_other():
    (finding,) = found(CODE, "softmax over rows")
    assert finding.component == "action-sampling"


def test_quiet_where_actions_are_compared():
    assert not found(CODE)
