from tests.programs.policies import found

CODE = "VAL330"


def test_fires_where_values_are_a_column():
    (finding,) = found(CODE, "value pairs")
    assert finding.component == "value-loss"
    assert finding.seen


def test_quiet_where_both_are_rows():
    assert not found(CODE)
