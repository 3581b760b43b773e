from rldebug.evidence.run import Run
from rldebug.rules.environment.episode_ends_at_once import EpisodeEndsAtOnce
from tests.judge import fires, not_enough, quiet


def run(longest, count=20.0, limit=500):
    numbers = {"episode/count": [count] * 5, "episode/length_max": longest}
    return Run.from_series(numbers, facts={"env": {"time_limit": limit}})


def test_fires_when_all_episodes_are_one_step_long():
    assert "100 episodes" in fires(EpisodeEndsAtOnce(), run([1.0] * 5)).seen


def test_quiet_when_one_episode_was_longer():
    quiet(EpisodeEndsAtOnce(), run([1.0, 1.0, 2.0, 1.0, 1.0]))


def test_quiet_when_the_environment_is_registered_for_one_step():
    quiet(EpisodeEndsAtOnce(), run([1.0] * 5, limit=1))


def test_declines_on_a_few_episodes():
    not_enough(EpisodeEndsAtOnce(), run([1.0] * 5, count=2.0))
