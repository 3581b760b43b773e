from rldebug.rules.exploration.actor_without_noise import ActorWithoutNoise
from tests.judge import fires, quiet
from tests.programs.actor_critic import script

rule = ActorWithoutNoise()


def test_fires_where_the_output_is_executed():
    assert "80 of 80 steps" in fires(rule, script(noise=lambda random, shape: 0.0)).seen


def test_quiet_with_noise():
    quiet(rule, script())
