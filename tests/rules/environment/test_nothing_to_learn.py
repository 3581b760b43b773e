from rldebug.evidence.env_play import EnvPlay, Play
from rldebug.rules.environment.nothing_to_learn import NothingToLearn
from tests.judge import fires, not_enough, quiet


def played(learned=(4.0, 6.0) * 25, alike=0.4, unseen=0.0):
    drawn = Play("random", "random", (4.0, 6.0) * 25, (10,) * 50, interval=(4.7, 5.3))
    mean = sum(learned) / len(learned)
    learner = Play("tabular", "tabular", learned, (10,) * len(learned), interval=(mean - 0.3, mean + 0.3))
    return EnvPlay("x", (drawn, learner), actions=4, alike=alike, unseen=unseen)


def test_fires_when_the_learner_is_no_better_than_chance():
    assert "p = 0.40" in fires(NothingToLearn(), played()).seen


def test_quiet_when_players_differ():
    quiet(NothingToLearn(), played(alike=0.001))


def test_quiet_when_the_learner_is_better():
    quiet(NothingToLearn(), played((6.0, 6.0) * 25))


def test_declines_where_not_everything_was_tried():
    not_enough(NothingToLearn(), played(unseen=0.3))


def test_declines_without_a_learner():
    not_enough(NothingToLearn(), EnvPlay("x"))
