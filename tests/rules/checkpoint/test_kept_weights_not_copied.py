import copy
import io

import torch

from rldebug.rules.checkpoint.kept_weights_not_copied import KeptWeightsNotCopied
from tests.judge import fires, not_enough, quiet
from tests.programs.resumed import Learner
from tests.watched import watched

rule = KeptWeightsNotCopied()


def program(keep, put_back=False, first=3):
    def run():
        learner = Learner()
        learner.train_on(first)
        best = keep(learner.net)
        learner.train_on(3)
        if put_back:
            learner.net.load_state_dict(best)
        else:
            torch.save({"best": best}, io.BytesIO())

    return run


def test_fires_when_the_best_weights_are_saved_later():
    assert (
        "taken at update 6 and saved at update 12"
        in fires(rule, watched(program(lambda net: net.state_dict()))[1]).seen
    )


def test_fires_when_they_are_put_back():
    assert "loaded into" in fires(rule, watched(program(lambda net: net.state_dict(), put_back=True))[1]).seen


def test_quiet_when_they_are_copied():
    quiet(rule, watched(program(lambda net: copy.deepcopy(net.state_dict())))[1])
    not_enough(rule, watched(program(lambda net: copy.deepcopy(net.state_dict()), put_back=True))[1])


def test_quiet_when_the_dict_was_made_before_training():
    quiet(rule, watched(program(lambda net: net.state_dict(), first=0))[1])


def test_declines_when_nothing_is_saved():
    not_enough(rule, watched(lambda: Learner().train_on(2))[1])
