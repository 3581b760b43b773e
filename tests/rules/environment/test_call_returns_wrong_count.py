from rldebug.evidence.env_contract import EnvContract, Misfit
from rldebug.rules.environment.call_returns_wrong_count import CallReturnsWrongCount
from tests.judge import fires, quiet


def test_fires_on_four_values():
    four = Misfit("step()", "4 values", "five", "step()", 1, 1, 1)
    assert "4 values" in fires(CallReturnsWrongCount(), EnvContract("e", structure=(four,))).seen


def test_quiet_when_everything_is_returned():
    quiet(CallReturnsWrongCount(), EnvContract("e", steps=4000))
