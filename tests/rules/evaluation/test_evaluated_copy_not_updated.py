import copy

import torch

from rldebug.rules.evaluation.evaluated_copy_not_updated import EvaluatedCopyNotUpdated
from tests.judge import fires, not_enough, quiet
from tests.programs.worlds import Evaluation, learn, network
from tests.watched import watched

rule = EvaluatedCopyNotUpdated()


class Loaded(Evaluation):
    def __call__(self, net):
        self.keeps.load_state_dict(net.state_dict())
        super().__call__(net)


def seen(kind=Evaluation, keeps=True):
    def program():
        torch.manual_seed(0)
        net = network()
        learn(net=net, evaluate=kind(keeps=copy.deepcopy(net) if keeps else None, steps=8), steps=120)

    return watched(program, overhead_budget=9.0)[1]


def test_fires_where_a_copy_from_before_training_is_played():
    found = fires(rule, seen())
    assert found.component == "evaluation"
    assert found.severity == "warning"


def test_fires_where_another_network_was_loaded_once_before_training():
    def program():
        torch.manual_seed(0)
        net, other = network(), network()
        other.load_state_dict(net.state_dict())
        learn(net=net, evaluate=Evaluation(keeps=other, steps=8), steps=120)

    fires(rule, watched(program, overhead_budget=9.0)[1])


def test_quiet_where_the_copy_is_loaded_or_the_trained_one_plays():
    quiet(rule, seen(Loaded))
    quiet(rule, seen(keeps=False))


def test_not_enough_without_an_evaluation():
    assert "evaluation" in not_enough(rule, watched(lambda: learn(steps=40))[1])
