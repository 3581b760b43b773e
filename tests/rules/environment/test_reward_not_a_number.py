from rldebug.evidence.env_contract import EnvContract, Misfit
from rldebug.rules.environment.reward_not_a_number import RewardNotANumber
from tests.judge import fires, quiet


def test_fires_on_nan():
    nan = Misfit("reward", "nan", "a finite number", "step()", 8, 2, 900)
    assert fires(RewardNotANumber(), EnvContract("e", rewards=(nan,))).severity == "error"


def test_fires_as_a_warning_on_an_array_of_one():
    row = Misfit("reward", "a ndarray of shape (1,)", "a number", "step()", 1, 900, 900, lenient=True)
    assert fires(RewardNotANumber(), EnvContract("e", rewards=(row,))).severity == "warning"


def test_quiet_on_numbers():
    quiet(RewardNotANumber(), EnvContract("e", steps=4000))
