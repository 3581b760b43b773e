import pytest

from rldebug.evidence.script import Script
from rldebug.rules.normalisation.return_statistics_left_behind import ReturnStatisticsLeftBehind
from tests import wild
from tests.judge import fires, not_enough, quiet

rule = ReturnStatisticsLeftBehind()


def seen(fault=""):
    return wild.seen("normalised_env", fault)[1]


def counted(*environments, updates=True):
    """(observations, returns) of each environment."""

    def layers(which):
        return [
            {"stream": stream, "what": "VecNormalize", "updates": updates, "kept": stream, "count": each[which]}
            for stream, each in enumerate(environments)
        ]

    return Script(notes=[{"kind": "normalisers", "audit": 3, "environments": layers(0), "rewards": layers(1)}])


def test_fires_where_training_goes_on_with_half_of_the_statistics():
    assert "with no return" in fires(rule, seen("returns-left-behind")).seen
    assert "1604 observations" in fires(rule, counted((1604, 1590), (2088, 484))).seen


@pytest.mark.parametrize("counts", [((1604, 1590), (2088, 2070)), ((1604, 1590), (484, 480)), ((1604, 1590),)])
def test_quiet_where_both_or_neither_were_handed_over(counts):
    quiet(rule, counted(*counts))


def test_quiet_where_statistics_of_observations_came_from_elsewhere():
    quiet(rule, counted((1604, 1590), (50_484, 484)))


def test_quiet_where_they_are_held_still():
    quiet(rule, counted((1604, 1590), (1604, 0), updates=False))


def test_declines_where_rewards_are_not_scaled():
    not_enough(rule, seen())
