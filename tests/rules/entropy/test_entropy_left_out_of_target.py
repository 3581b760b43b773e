from rldebug.rules.entropy.entropy_left_out_of_target import EntropyLeftOutOfTarget
from tests.judge import fires, not_enough, quiet
from tests.programs.actor_critic import script

rule = EntropyLeftOutOfTarget()


def test_fires_where_the_target_is_value_alone():
    assert "weighs the log-prob with 0.2" in fires(rule, script()).seen


def test_declines_where_the_actor_is_not_paid_either():
    not_enough(rule, script(factor=None))


def test_quiet_where_the_target_holds_the_log_prob():
    quiet(rule, script(soft=True))
