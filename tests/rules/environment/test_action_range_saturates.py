from rldebug.evidence.env_contract import EnvContract, Saturation
from rldebug.rules.environment.action_range_saturates import ActionRangeSaturates
from tests.judge import fires, quiet


def test_fires_when_a_tenth_of_the_range_is_all():
    found = fires(ActionRangeSaturates(), EnvContract("e", saturated=(Saturation("action[0]", -10.0, 10.0, 0.1),)))
    assert "10%" in found.seen


def test_quiet_when_half_of_the_range_counts():
    quiet(ActionRangeSaturates(), EnvContract("e", saturated=(Saturation("action[0]", -1.0, 1.0, 0.5),)))
