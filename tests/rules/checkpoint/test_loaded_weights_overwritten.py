from torch import nn

from rldebug.rules.checkpoint.loaded_weights_overwritten import LoadedWeightsOverwritten
from tests.judge import fires, quiet
from tests.programs.resumed import legs, take_all
from tests.watched import watched

rule = LoadedWeightsOverwritten()


def test_fires_when_the_weights_are_initialised_after_loading():
    def take(learner, saved):
        take_all(learner, saved)
        learner.apply(lambda each: each.reset_parameters() if isinstance(each, nn.Linear) else None)

    assert "4 of 4" in fires(rule, watched(legs(take=take))[1]).seen


def test_quiet_when_they_are_as_loaded():
    quiet(rule, watched(legs())[1])


def test_quiet_when_only_the_last_layer_is_made_anew():
    def take(learner, saved):
        take_all(learner, saved)
        nn.init.zeros_(learner.net[2].weight)

    quiet(rule, watched(legs(take=take))[1])
