import copy
from dataclasses import replace

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

from rldebug.rules.evaluation.evaluated_copy_not_updated import EvaluatedCopyNotUpdated
from tests.judge import fires, not_enough, quiet
from tests.programs.worlds import Evaluation, learn, network
from tests.watched import watched

rule = EvaluatedCopyNotUpdated()


class Loaded(Evaluation):
    def __call__(self, net):
        self.keeps.load_state_dict(net.state_dict())
        super().__call__(net)


class Averaged(Evaluation):
    """Plays weights that follow those of the network that is trained, a step of the way after each update."""

    def __init__(self, keeps, twin, **evaluation):
        super().__init__(keeps=keeps, **evaluation)
        self.twin = twin

    def follow(self, *_):
        with torch.no_grad():
            for mine, theirs in zip(self.keeps.parameters(), self.twin.parameters(), strict=True):
                mine.lerp_(theirs, 0.02)


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


def test_quiet_where_averaged_weights_are_played():
    def program():
        torch.manual_seed(0)
        net = network()
        played = Averaged(copy.deepcopy(net), net, steps=8)
        handle = register_optimizer_step_post_hook(played.follow)
        try:
            learn(net=net, evaluate=played, steps=120)
        finally:
            handle.remove()

    quiet(rule, watched(program, overhead_budget=9.0)[1])


def test_quiet_where_nothing_was_learned_between_two_looks():
    script = seen()
    last = script.audits[-1]
    fires(rule, script)
    quiet(rule, replace(script, audits=(last, replace(last, number=last.number + 1))))


def test_quiet_where_the_copy_moved_between_audits():
    script = seen()
    name = next(each for each in script.modules if not script.modules[each].get("owners"))
    later = {name: {"updates": [900], "prints": ["0badcafe"], "distance": [{}]}}
    quiet(rule, replace(script, things={**script.things, "glance": later}))


def test_not_enough_without_an_evaluation():
    assert "evaluation" in not_enough(rule, watched(lambda: learn(steps=40))[1])
