from rldebug.rules.target_network.one_noise_for_the_whole_batch import OneNoiseForTheWholeBatch
from tests.judge import fires, not_enough, quiet
from tests.programs.actor_critic import script

rule = OneNoiseForTheWholeBatch()


def test_fires_on_one_draw_for_all_rows():
    seen = script(smooth=lambda random, shape: 0.2 * random.normal(size=shape[1]))
    assert "32 of 32 batches" in fires(rule, seen).seen


def test_quiet_on_a_draw_for_each_row():
    quiet(rule, script(smooth=lambda random, shape: 0.2 * random.normal(size=shape)))


def test_declines_without_noise():
    not_enough(rule, script())
