import dataclasses

import numpy as np

from rldebug.evidence.script import Audit
from rldebug.forensics.exploring import Steps
from rldebug.rules.action_sampling.answer_not_followed import AnswerNotFollowed
from tests import wild
from tests.judge import fires, not_enough, quiet
from tests.programs.made import nodes
from tests.programs.targets import seen

rule = AnswerNotFollowed()


def test_fires_where_the_argmax_is_of_something_else():
    finding = fires(rule, wild.seen("dqn", "argmax-of-one")[1])
    assert finding.component == "action-sampling"
    assert finding.where.line is not None


def test_quiet_where_the_best_action_is_executed_or_a_random_one():
    quiet(rule, wild.seen("dqn")[1])
    quiet(rule, seen("q_learner"))


def test_not_enough_where_actions_are_drawn_by_a_policy():
    assert "asked for actions" in not_enough(rule, seen("ddpg"))


def lanes(one_for_all):
    """Four environments at once; a network of values says what is best in each."""
    obs = np.random.default_rng(0).normal(size=(160, 4))
    made = dataclasses.replace(
        nodes(obs),
        lane=np.tile(np.arange(4), 40),
        call=np.repeat(np.arange(40), 4),
        action=np.zeros((160, 1)),
    )
    output = np.stack([obs[:, 0], -obs[:, 0]], axis=1)
    best = output.argmax(axis=1).reshape(40, 4)
    executed = np.repeat(best[:, :1], 4, axis=1) if one_for_all else best
    made = dataclasses.replace(made, action=executed.reshape(160, 1).astype(np.float64))
    return Steps(Audit(0, 0, 0, 0, made, ()), np.arange(160), np.ones(160, dtype=bool), output, "q", None)


def test_fires_on_one_action_for_all_lanes():
    shared, differ = rule._one_for_all([lanes(one_for_all=True)])
    assert shared == 40
    assert differ > 20


def test_quiet_on_an_action_for_each_lane():
    assert rule._one_for_all([lanes(one_for_all=False)]) == (0, 0)
