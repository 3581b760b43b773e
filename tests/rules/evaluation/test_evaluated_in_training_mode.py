import numpy as np
import torch
from torch import nn

from rldebug.forensics.batches import owned
from rldebug.forensics.roles import roles_of
from rldebug.rules.evaluation.evaluated_in_training_mode import EvaluatedInTrainingMode
from tests.judge import fires, not_enough, quiet
from tests.programs.two_legs import resumed
from tests.programs.worlds import Evaluation, Line, learn, network
from tests.watched import watched

rule = EvaluatedInTrainingMode()


def crippled():
    return nn.Sequential(nn.Linear(2, 8), nn.Dropout(0.2), nn.Linear(8, 2))


def seen(net, **evaluation):
    return watched(lambda: learn(net=net, evaluate=Evaluation(steps=8, **evaluation), steps=80), overhead_budget=9.0)[1]


def test_fires_where_dropout_is_left_on():
    found = fires(rule, seen(crippled()))
    assert found.component == "evaluation"
    assert "Dropout" in found.seen
    assert str(found.where.file).endswith("worlds.py")


class Grid(Line):
    """Places that come up again and again."""

    def _look(self):
        return np.round(super()._look() * 3) / 3


class Noisy(nn.Linear):
    def forward(self, rows):
        return super().forward(rows + (0.5 * torch.randn(1) if self.training else 0.0))


def test_fires_where_noise_is_left_on():
    def program(eval_mode):
        net = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), Noisy(8, 2))
        learn(Grid(), net=net, evaluate=Evaluation(Grid(), steps=10, eval_mode=eval_mode), steps=160)

    found = fires(rule, watched(lambda: program(False), overhead_budget=9.0)[1])
    assert "other values" in found.seen
    quiet(rule, watched(lambda: program(True), overhead_budget=9.0)[1])


def test_quiet_in_evaluation_mode():
    quiet(rule, seen(crippled(), eval_mode=True))


def test_quiet_where_the_mode_makes_no_difference():
    quiet(rule, seen(network()))


def test_quiet_about_an_actor_that_draws_within_and_was_resumed():
    script = watched(resumed)[1]
    quiet(rule, script)
    roles = roles_of(script)
    assert {target.partition("-")[0] for target in roles.target_names} == {"follows"}, "no network that learns is one"
    assert all(owned(script, each) for each in roles.policy)
    assert roles.policy | roles.critic <= set(script.modules), "all that learned were told, those of the second leg too"


def test_not_enough_without_an_evaluation():
    assert "evaluation" in not_enough(rule, watched(lambda: learn(net=crippled(), steps=40))[1])
