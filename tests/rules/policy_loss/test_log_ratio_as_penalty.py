from tests.programs.policies import found, ppo
from tests.programs.written import found as written
from tests.watched import findings

CODE = "POL308"


def test_fires_where_the_penalty_is_the_log_ratio():
    (finding,) = findings(lambda: ppo("log-ratio penalty"), CODE, overhead_budget=1.0)
    assert finding.component == "policy-loss"
    assert finding.seen


def test_fires_where_filler_is_left_out_of_it():
    assert written(CODE, "plain", "groups")
    assert not written(CODE, kind="groups")


def test_quiet_where_the_penalty_is_never_negative():
    assert not found(CODE, "divergence")


def test_quiet_where_there_is_none():
    assert not found(CODE)
