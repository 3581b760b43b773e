from rldebug.rules.target_network.target_action_beyond_bounds import TargetActionBeyondBounds
from tests.judge import fires, not_enough, quiet
from tests.programs.actor_critic import script

rule = TargetActionBeyondBounds()


def wide(random, shape):
    return 0.8 * random.normal(size=shape)


def wild(random, shape):
    return 1.5 * random.normal(size=shape)


def test_fires_where_nothing_is_clamped():
    seen = script(smooth=wide, noise=wild)
    assert "of 1024 target actions" in fires(rule, seen).seen


def test_quiet_where_all_stays_within():
    quiet(rule, script(noise=wild))


def test_declines_without_enough_of_them():
    not_enough(rule, script(audits=1))
