from tests.programs.policies import ppo
from tests.rules.action_sampling.test_trained_action_not_executed import q_learning
from tests.watched import watched

from rldebug.forensics.program import program_of
from rldebug.forensics.roles import roles_of
from rldebug.recorded import untraced


def test_a_policy_and_its_critic_are_known_by_their_losses():
    _, script = watched(ppo)
    roles = roles_of(script)
    assert roles.policy
    assert roles.critic
    assert roles.on_policy
    assert roles.family == "ppo"
    assert program_of(script)["family"] == "ppo"
    assert untraced(script) == ""


def test_action_values_are_known_by_the_action_they_are_of():
    _, script = watched(q_learning)
    roles = roles_of(script)
    assert len(roles.q) == 1
    assert not roles.policy
    assert roles.family == "q-learning"
    assert roles.stream == 0
    assert not roles.others
