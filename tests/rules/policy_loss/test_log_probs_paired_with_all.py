from tests.programs.policies import found

CODE = "POL306"


def test_fires_where_advantages_are_a_column():
    (finding,) = found(CODE, "pairs")
    assert finding.component == "policy-loss"
    assert finding.seen


def test_quiet_where_both_are_rows():
    assert not found(CODE)
