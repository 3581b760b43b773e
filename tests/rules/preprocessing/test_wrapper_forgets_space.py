from rldebug.evidence.env_contract import EnvContract, Layer, Misfit, Outside
from rldebug.rules.preprocessing.wrapper_forgets_space import WrapperForgetsSpace
from tests.judge import fires, not_enough, quiet

KIND = Misfit("obs", "float32", "uint8", "reset()", 0, 400, 400)
OUT = Outside("obs[0]", -1.0, 1.0, 3.0, 200, 400)


def test_fires_at_the_wrapper_above_which_it_does_not_fit():
    found = fires(
        WrapperForgetsSpace(),
        EnvContract("e", layers=(Layer("Top", misfit=KIND), Layer("Scale", misfit=KIND), Layer("Game"))),
    )
    assert found.severity == "error"
    assert "wrapper Scale " in found.message


def test_fires_as_a_warning_on_bounds():
    assert (
        fires(WrapperForgetsSpace(), EnvContract("e", layers=(Layer("Unit", outside=OUT), Layer("Game")))).severity
        == "warning"
    )


def test_quiet_when_the_environment_itself_does_not_fit():
    quiet(WrapperForgetsSpace(), EnvContract("e", layers=(Layer("Log", misfit=KIND), Layer("Game", misfit=KIND))))


def test_quiet_when_seldom_out():
    seldom = Outside("obs[0]", -1.0, 1.0, 3.0, 2, 400)
    quiet(WrapperForgetsSpace(), EnvContract("e", layers=(Layer("Unit", outside=seldom), Layer("Game"))))


def test_declines_without_layers():
    not_enough(WrapperForgetsSpace(), EnvContract("e"))
