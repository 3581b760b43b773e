from rldebug.rules.policy_loss.actor_trusts_larger_critic import ActorTrustsLargerCritic
from tests.judge import fires, not_enough, quiet
from tests.programs.actor_critic import script

rule = ActorTrustsLargerCritic()


def test_fires_on_the_larger_of_two():
    assert "256 of 256 rows" in fires(rule, script(actor="larger")).seen


def test_quiet_on_the_smaller_of_two():
    quiet(rule, script())


def test_declines_with_one_critic_alone():
    not_enough(rule, script(judges=("q1",), actor="larger"))
