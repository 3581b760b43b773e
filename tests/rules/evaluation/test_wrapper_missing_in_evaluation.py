import gymnasium
import numpy as np

from rldebug.rules.evaluation.wrapper_missing_in_evaluation import WrapperMissingInEvaluation
from tests.judge import fires, not_enough, quiet
from tests.programs.worlds import Evaluation, Line, learn
from tests.watched import watched

rule = WrapperMissingInEvaluation()


class Scaled(gymnasium.ObservationWrapper):
    def observation(self, observation):
        return np.asarray(observation * [3.0, 5.0], np.float32)


class Noisy(gymnasium.ObservationWrapper):
    def observation(self, observation):
        return np.asarray(observation + self.np_random.normal(0, 0.1, 2), np.float32)


def seen(trained, played):
    return watched(lambda: learn(trained, evaluate=Evaluation(played), steps=60))[1]


def test_fires_where_the_wrapper_is_missing():
    found = fires(rule, seen(Scaled(Line()), Line()))
    assert found.component == "evaluation"
    assert "Scaled > Line" in found.seen


def test_quiet_where_both_have_it():
    quiet(rule, seen(Scaled(Line()), Scaled(Line())))


def test_quiet_where_it_is_noise():
    quiet(rule, seen(Noisy(Line()), Line()))


def test_not_enough_without_an_evaluation():
    assert "evaluation" in not_enough(rule, watched(lambda: learn(Scaled(Line()), steps=60))[1])
