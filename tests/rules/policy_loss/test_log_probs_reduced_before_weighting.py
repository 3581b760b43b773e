from tests.programs.policies import found

CODE = "POL305"


def test_fires_where_the_mean_is_taken_first():
    (finding,) = found(CODE, "mean log-prob")
    assert finding.component == "policy-loss"
    assert finding.seen


def test_quiet_where_each_row_has_its_weight():
    assert not found(CODE)
