import io

import torch

from rldebug.rules.checkpoint.weights_left_out_of_checkpoint import WeightsLeftOutOfCheckpoint
from tests.judge import fires, not_enough, quiet
from tests.programs.resumed import Learner, legs
from tests.watched import watched

rule = WeightsLeftOutOfCheckpoint()


def without_temperature(learner: Learner):
    saved = learner.contents()
    return {**saved, "nets": {key: value for key, value in saved["nets"].items() if key != "temperature"}}


def take_what_there_is(learner, saved):
    learner.load_state_dict(saved["nets"], strict=False)


def test_fires_when_a_trained_number_is_not_saved():
    _, script = watched(legs(without_temperature, take_what_there_is))
    found = fires(rule, script)
    assert "1 of the 1 tensors that it trains are not in it (a single number)" in found.seen


def test_quiet_when_everything_is_saved():
    quiet(rule, watched(legs())[1])


def test_quiet_when_the_number_is_saved_as_a_number():
    def contents(learner):
        return {**without_temperature(learner), "alpha": learner.temperature.exp().item()}

    quiet(rule, watched(legs(contents, take_what_there_is))[1])


def test_quiet_when_the_checkpoint_is_spread_over_files():
    def program():
        learner = Learner()
        learner.train_on()
        for each in learner.contents().values():
            torch.save(each, io.BytesIO())

    quiet(rule, watched(program)[1])


def test_declines_when_a_policy_is_saved_to_be_used():
    def program():
        learner = Learner()
        learner.train_on()
        torch.save(learner.net.state_dict(), io.BytesIO())

    not_enough(rule, watched(program)[1])
