from rldebug.rules.network.actor_saturated import ActorSaturated
from tests.judge import fires, quiet
from tests.programs.actor_critic import script

rule = ActorSaturated()


def test_fires_where_only_the_bounds_are_given():
    assert "outputs of size 1" in fires(rule, script(saturated=True)).seen


def test_quiet_between_the_bounds():
    quiet(rule, script())
