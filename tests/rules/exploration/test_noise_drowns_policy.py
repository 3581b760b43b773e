from rldebug.rules.exploration.noise_drowns_policy import NoiseDrownsPolicy
from tests.judge import fires, quiet
from tests.programs.actor_critic import script

rule = NoiseDrownsPolicy()


def test_fires_where_most_actions_are_at_a_bound():
    assert (
        "executed elements are at a bound"
        in fires(rule, script(noise=lambda random, shape: 9.0 * random.normal(size=shape))).seen
    )


def test_quiet_on_small_noise():
    quiet(rule, script())
