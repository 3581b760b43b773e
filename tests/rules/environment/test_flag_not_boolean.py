from rldebug.evidence.env_contract import EnvContract, Misfit
from rldebug.rules.environment.flag_not_boolean import FlagNotBoolean
from tests.judge import fires, quiet


def test_fires_as_an_error_on_an_array():
    flag = Misfit("terminated", "a ndarray", "a bool", "step()", 3, 90, 100)
    found = fires(FlagNotBoolean(), EnvContract("e", flags=(flag,)))
    assert found.severity == "error"
    assert "90 of 100" in found.seen


def test_fires_as_a_warning_on_zero_and_one():
    flag = Misfit("truncated", "0 (int)", "a bool", "step()", 1, 100, 100, lenient=True)
    assert fires(FlagNotBoolean(), EnvContract("e", flags=(flag,))).severity == "warning"


def test_quiet_when_all_are_booleans():
    quiet(FlagNotBoolean(), EnvContract("e", steps=4000))
