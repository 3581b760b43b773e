from rldebug.rules.value_loss.one_critic_regressed_twice import OneCriticRegressedTwice
from tests.judge import fires, quiet
from tests.programs.actor_critic import script

rule = OneCriticRegressedTwice()


def test_fires_where_one_is_trained_twice():
    assert "in 8 losses" in fires(rule, script(twice=True)).seen


def test_fires_where_both_are_one():
    assert "in 8 losses" in fires(rule, script(twins=True)).seen


def test_quiet_on_two_critics():
    quiet(rule, script())
