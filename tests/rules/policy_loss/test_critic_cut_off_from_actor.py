from rldebug.rules.policy_loss.critic_cut_off_from_actor import CriticCutOffFromActor
from tests.judge import fires, quiet
from tests.programs.actor_critic import script

rule = CriticCutOffFromActor()


def test_fires_where_the_action_carries_no_gradient():
    assert "carries no gradient" in fires(rule, script(cut=True)).seen


def test_quiet_where_the_action_is_the_actors_own():
    quiet(rule, script())
