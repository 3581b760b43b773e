from tests.programs.policies import found

CODE = "POL307"


def test_fires_where_the_penalty_is_subtracted():
    (finding,) = found(CODE, "divergence rewarded")
    assert finding.component == "policy-loss"
    assert finding.seen


def test_quiet_where_the_penalty_is_added():
    assert not found(CODE, "divergence")
