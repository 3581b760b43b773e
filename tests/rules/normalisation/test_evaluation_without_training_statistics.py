import pytest

from rldebug.rules.normalisation.evaluation_without_training_statistics import EvaluationWithoutTrainingStatistics
from tests import wild
from tests.judge import fires, not_enough, quiet

rule = EvaluationWithoutTrainingStatistics()


def seen(fault=""):
    return wild.seen("normalised_env", fault)[1]


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("evaluation-env-bare", "NormalizeObservation around Tank in training"),
        ("evaluation-env-normalises-anew", "all of them its own"),
        ("own-wrapper-counts-anew", "kept.count of Scaled says"),
        ("own-wrapper-normalises-anew", "kept.mean and kept.squares of Scaled move in training"),
    ],
)
def test_fires_where_the_statistics_of_training_are_missing(fault, expected):
    assert expected in fires(rule, seen(fault)).seen


def test_quiet_where_they_are_handed_over():
    quiet(rule, seen())
    quiet(rule, seen("own-wrapper-shares"))


def test_quiet_where_nothing_is_normalised():
    quiet(rule, seen("no-normaliser"))


def test_declines_without_an_evaluation():
    not_enough(rule, seen("no-evaluation"))
