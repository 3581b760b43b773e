from tests.programs.policies import found, ppo
from tests.watched import findings

CODE = "VAL331"


def test_fires_where_the_value_itself_is_clamped():
    (finding,) = findings(lambda: ppo("value around 0"), CODE, overhead_budget=1.0)
    assert finding.component == "value-loss"
    assert finding.seen


def test_quiet_where_its_step_is_clamped():
    assert not found(CODE, "value clipped")


def test_quiet_where_nothing_is_clamped():
    assert not found(CODE)
