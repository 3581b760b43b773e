from rldebug.rules.value_loss.second_critic_ignored import SecondCriticIgnored
from tests.judge import fires, quiet
from tests.programs.actor_critic import script

rule = SecondCriticIgnored()


def test_fires_where_one_critic_makes_the_target():
    assert "q1_t" in fires(rule, script(target="one")).seen


def test_quiet_on_the_smaller_of_two():
    quiet(rule, script())
