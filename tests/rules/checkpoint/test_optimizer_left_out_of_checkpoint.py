import copy
import io

import torch

from rldebug.rules.checkpoint.optimizer_left_out_of_checkpoint import OptimizerLeftOutOfCheckpoint
from tests.judge import fires, quiet
from tests.programs.resumed import Learner, legs, take_all
from tests.watched import watched

rule = OptimizerLeftOutOfCheckpoint()


def only_nets(learner):
    return {"nets": learner.state_dict()}


def take_nets(learner, saved):
    learner.load_state_dict(saved["nets"])


def test_fires_when_one_of_two_optimizers_is_saved():
    def contents(learner):
        return {"nets": learner.state_dict(), "opt": learner.temperature_opt.state_dict()}

    assert "that of" in fires(rule, watched(legs(contents, take_nets))[1]).seen


def test_fires_when_training_goes_on_from_weights_alone():
    assert "went on from there" in fires(rule, watched(legs(only_nets, take_nets))[1]).seen


def test_quiet_when_all_are_saved():
    quiet(rule, watched(legs())[1])


def test_quiet_when_a_policy_is_saved_to_be_used():
    def program():
        learner = Learner()
        learner.train_on()
        torch.save(learner.net.state_dict(), io.BytesIO())
        learner.train_on(2)

    quiet(rule, watched(program)[1])


def test_quiet_when_the_best_weights_are_put_back_and_the_optimizer_lives_on():
    def program():
        learner = Learner()
        learner.train_on()
        file = io.BytesIO()
        torch.save(learner.state_dict(), file)
        file.seek(0)
        learner.load_state_dict(torch.load(file))
        learner.train_on(3)

    quiet(rule, watched(program)[1])


def test_quiet_when_the_optimizer_from_before_a_restart_still_lives_beside_its_weights():
    def program():
        torch.manual_seed(0)
        before = Learner()
        before.train_on()
        best, file = copy.deepcopy(before.state_dict()), io.BytesIO()
        torch.save({**before.contents(), "best": best}, file)
        file.seek(0)
        after = Learner()
        take_all(after, torch.load(file))
        after.train_on(3)
        torch.save({**after.contents(), "best": best}, io.BytesIO())
        before.requires_grad_(False)

    quiet(rule, watched(program)[1])
