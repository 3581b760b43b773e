import gymnasium
import pytest

from rldebug.rules.evaluation.evaluation_reward_normalised import EvaluationRewardNormalised
from tests.judge import fires, not_enough, quiet
from tests.programs.worlds import Evaluation, Line, learn
from tests.watched import watched

rule = EvaluationRewardNormalised()
normalised = gymnasium.wrappers.NormalizeReward


def seen(env):
    return watched(lambda: learn(evaluate=Evaluation(env, steps=12), steps=80))[1]


def test_fires_where_the_evaluation_normalises_rewards():
    found = fires(rule, seen(normalised(Line())))
    assert found.component == "evaluation"
    assert "NormalizeReward" in found.seen


def test_fires_as_a_note_where_returns_are_counted_inside():
    assert fires(rule, seen(normalised(gymnasium.wrappers.RecordEpisodeStatistics(Line())))).severity == "note"


def test_quiet_where_rewards_are_the_environments_own():
    quiet(rule, seen(Line()))


@pytest.mark.parametrize("env", [Line, lambda: normalised(Line())])
def test_not_enough_without_an_evaluation(env):
    assert "evaluation" in not_enough(rule, watched(lambda: learn(env(), steps=40))[1])
