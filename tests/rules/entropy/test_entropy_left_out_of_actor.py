from rldebug.rules.entropy.entropy_left_out_of_actor import EntropyLeftOutOfActor
from tests.judge import fires, not_enough, quiet
from tests.programs.actor_critic import script

rule = EntropyLeftOutOfActor()


def test_fires_where_the_loss_is_the_value_alone():
    assert "the critic's value alone" in fires(rule, script(temperature="right", factor=None)).seen


def test_quiet_with_a_log_prob():
    quiet(rule, script(temperature="right"))


def test_declines_where_nothing_is_learned_of_entropy():
    not_enough(rule, script(factor=None))
