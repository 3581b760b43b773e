from rldebug.evidence.env_contract import EnvContract
from rldebug.rules.environment.action_bounds_infinite import ActionBoundsInfinite
from tests.judge import fires, quiet


def test_fires_on_an_unbounded_dimension():
    assert (
        "action[1]"
        in fires(ActionBoundsInfinite(), EnvContract("e", action_space="Box", unbounded=("action[1]",))).seen
    )


def test_quiet_on_finite_bounds():
    quiet(ActionBoundsInfinite(), EnvContract("e", action_space="Box(-1, 1)"))
