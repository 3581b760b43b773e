from rldebug.rules.policy_loss.actor_seeks_low_value import ActorSeeksLowValue
from tests.judge import fires, not_enough, quiet
from tests.programs.actor_critic import script

rule = ActorSeeksLowValue()


def test_fires_where_the_loss_grows_with_the_value():
    assert "8 backward passes" in fires(rule, script(actor="low")).seen


def test_quiet_where_the_value_is_sought():
    quiet(rule, script())


def test_declines_on_too_few_passes():
    not_enough(rule, script(audits=1, updates=2, actor="low"))
