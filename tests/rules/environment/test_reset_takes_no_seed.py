from rldebug.evidence.env_contract import EnvContract, Layer
from rldebug.rules.environment.reset_takes_no_seed import ResetTakesNoSeed
from tests.judge import fires, quiet


def test_fires_with_the_wrapper_that_takes_none():
    layers = (Layer("Log", takes_seed=False), Layer("Grid"))
    assert "Log" in fires(ResetTakesNoSeed(), EnvContract("e", layers=layers)).message


def test_quiet_when_all_take_it():
    quiet(ResetTakesNoSeed(), EnvContract("e", layers=(Layer("Log"), Layer("Grid"))))
