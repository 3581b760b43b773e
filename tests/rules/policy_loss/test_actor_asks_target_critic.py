from rldebug.rules.policy_loss.actor_asks_target_critic import ActorAsksTargetCritic
from tests.judge import fires, quiet
from tests.programs.actor_critic import script

rule = ActorAsksTargetCritic()


def test_fires_where_only_the_target_is_asked():
    assert "q1_t, q2_t" in fires(rule, script(judges=("q1_t", "q2_t"))).seen


def test_quiet_where_the_trained_critic_is_asked():
    quiet(rule, script())


def test_quiet_where_the_other_is_no_copy():
    quiet(rule, script(judges=("q1_t", "q2_t"), follow={}))
