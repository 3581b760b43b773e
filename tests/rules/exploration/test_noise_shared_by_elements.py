from rldebug.rules.exploration.noise_shared_by_elements import NoiseSharedByElements
from tests.judge import fires, quiet
from tests.programs.actor_critic import script

rule = NoiseSharedByElements()


def test_fires_on_one_number_for_all():
    assert (
        "one number for all 2 elements"
        in fires(rule, script(noise=lambda random, shape: 0.1 * random.normal(size=(shape[0], 1)))).seen
    )


def test_quiet_on_a_number_for_each():
    quiet(rule, script())
