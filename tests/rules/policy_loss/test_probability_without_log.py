from tests.programs.policies import found

CODE = "POL394"


def test_fires_where_the_probability_is_weighted():
    (finding,) = found(CODE, "no logarithm")
    assert finding.component == "policy-loss"


def test_quiet_where_a_ratio_is_weighted():
    assert not found(CODE)


def test_quiet_where_the_log_prob_is_weighted():
    assert not found(CODE, "mean log-prob")
