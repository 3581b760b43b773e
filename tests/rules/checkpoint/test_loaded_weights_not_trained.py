from torch import nn

from rldebug.rules.checkpoint.loaded_weights_not_trained import LoadedWeightsNotTrained
from tests.judge import fires, not_enough, quiet
from tests.programs import learning
from tests.programs.resumed import Learner, legs, take_all
from tests.watched import watched

rule = LoadedWeightsNotTrained()


def test_fires_when_loading_replaces_a_tensor():
    def take(learner, saved):
        take_all(learner, saved)
        learner.temperature = nn.Parameter(saved["nets"]["temperature"])

    assert "1 of the 1 tensors" in fires(rule, watched(legs(take=take))[1]).seen


def starving(without, file="half.pt"):
    events = [
        event for _ in range(3) for event in (learning.loss(["agent"]), learning.step("opt", {}, without=without))
    ]
    notes = [{"kind": "restored", "update": 100, "file": file, "module": "agent"}]
    return learning.script([], events, events, notes=notes, optimizer={"opt": learning.optimizer({})})


def test_fires_when_the_optimizer_is_made_of_another_network():
    assert "no gradient" in fires(rule, starving(without=4)).seen


def test_declines_where_gradients_come_or_nothing_was_loaded():
    not_enough(rule, starving(without=0))
    not_enough(rule, starving(without=4, file=None))


def test_quiet_when_it_is_copied_into():
    def take(learner, saved):
        take_all(learner, saved)
        learner.temperature.data.copy_(saved["nets"]["temperature"])

    quiet(rule, watched(legs(take=take))[1])


def test_declines_when_nothing_is_loaded():
    not_enough(rule, watched(lambda: Learner().train_on(2))[1])
