from rldebug.rules.exploration.noise_pushes_one_way import NoisePushesOneWay
from tests.judge import fires, quiet
from tests.programs.actor_critic import script

rule = NoisePushesOneWay()


def test_fires_on_noise_of_one_sign():
    assert (
        "pushed up in 100%"
        in fires(rule, script(audits=3, noise=lambda random, shape: 0.1 * abs(random.normal(size=shape)))).seen
    )


def test_quiet_on_noise_around_zero():
    quiet(rule, script(audits=3))
