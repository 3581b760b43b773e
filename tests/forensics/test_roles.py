import numpy as np
from tests.programs.policies import ppo
from tests.rules.action_sampling.test_trained_action_not_executed import q_learning
from tests.watched import watched

from rldebug.evidence.script import Audit, Event, Script
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


def test_where_no_row_is_traced_an_evaluation_with_more_steps_is_not_what_is_learned_from():
    trained = {"index": 0, "steps": 700, "phases": 205}
    played = {"index": 1, "steps": 830, "phases": 2}
    assert roles_of(Script([], {"stream": {"0": trained, "1": played}})).stream == 0
    assert roles_of(Script([], {"stream": {"0": {**trained, "phases": 3}, "1": played}})).stream == 1


def term(kind, *reached, **arrays):
    return Event(1, "term", 0, 0, {"kind": kind, "reached": list(reached)}, arrays)


def test_values_of_actions_that_are_pushed_as_they_are_make_no_actor():
    regression = term("regression", "net", index=np.zeros(4))
    conservative = Audit(0, 0, 0, 0, None, (regression, term("output", "net")))
    roles = roles_of(Script([conservative]))
    assert not roles.policy
    assert roles.family == "q-learning"
    together = Audit(0, 0, 0, 0, None, (term("regression", "agent"), term("output", "agent")))
    assert roles_of(Script([together])).policy == {"agent"}  # an actor and its critic in one
