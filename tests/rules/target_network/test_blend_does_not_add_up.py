from rldebug.rules.target_network.blend_does_not_add_up import BlendDoesNotAddUp
from tests.judge import fires, not_enough, quiet
from tests.programs.actor_critic import script

rule = BlendDoesNotAddUp()


def test_fires_where_the_shares_are_too_small():
    assert "0.99 of itself and 0.0001 of q1" in fires(rule, script(blend={"q1_t": (0.99, 0.0001)})).seen


def test_quiet_where_they_add_up():
    quiet(rule, script(blend={"q1_t": (0.99, 0.01)}))


def test_declines_where_nothing_is_blended():
    not_enough(rule, script())
