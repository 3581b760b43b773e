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


def test_fires_on_noise_with_another_mean():
    found = fires(rule, script(audits=8, noise=lambda random, shape: 0.1 + 0.1 * random.normal(size=shape)))
    assert found.message == "noise has another mean than 0"


def test_quiet_where_the_program_cuts_off_closer_than_the_environment():
    quiet(rule, script(audits=8, cut_off=0.3))
