from rldebug.evidence.run import Run
from rldebug.rules.environment.episode_length_constant import EpisodeLengthConstant
from tests.judge import fires, not_enough, quiet


def run(length=30.0, long=None, limit=200, terminated=10.0, returns=(-300.0, -100.0), count=10.0):
    numbers = {
        "episode/count": [count] * 5,
        "episode/terminated": [terminated] * 5,
        "episode/length_min": [length] * 5,
        "episode/length_max": [long or length] * 5,
        "episode/return_min": [returns[0]] * 5,
        "episode/return_max": [returns[1]] * 5,
    }
    return Run.from_series(numbers, facts={"env": {"time_limit": limit}})


def test_fires_when_all_episodes_terminate_at_the_same_step():
    found = fires(EpisodeLengthConstant(), run())
    assert "30 steps" in found.seen
    assert "200" in found.seen


def test_quiet_when_the_length_is_the_time_limit():
    quiet(EpisodeLengthConstant(), run(length=200.0))


def test_quiet_when_episodes_are_truncated_there():
    quiet(EpisodeLengthConstant(), run(limit=None, terminated=0.0))


def test_quiet_when_lengths_differ_by_one_step():
    quiet(EpisodeLengthConstant(), run(long=31.0))


def test_quiet_when_it_is_a_bandit():
    quiet(EpisodeLengthConstant(), run(length=1.0))


def test_declines_on_a_few_episodes():
    not_enough(EpisodeLengthConstant(), run(count=1.0, terminated=1.0))
