import gymnasium as gym
from gymnasium.wrappers import RecordEpisodeStatistics

from rldebug.rules.evaluation.episode_info_expected_every_step import EpisodeInfoExpectedEveryStep
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_the_statistics_are_read_in_every_step():
    def program():
        info = {"lives": 3}
        return info["episode"]["r"]

    names(EpisodeInfoExpectedEveryStep(), crashed(program))


def read_at_the_end(wrap):
    world = wrap(gym.make("MountainCar-v0", max_episode_steps=3))
    world.reset(seed=1)
    for _ in range(2 if wrap is RecordEpisodeStatistics else 3):
        *_, extra = world.step(0)
    return extra["episode"]["l"]


def test_says_that_the_wrapper_is_missing():
    finding = names(EpisodeInfoExpectedEveryStep(), crashed(lambda: read_at_the_end(lambda env: env)))
    assert "no wrapper records" in finding.message
    assert "TimeLimit > " in finding.seen
    assert "RecordEpisodeStatistics(env)" in finding.help


def test_says_that_none_has_ended_where_there_is_one():
    finding = names(EpisodeInfoExpectedEveryStep(), crashed(lambda: read_at_the_end(RecordEpisodeStatistics)))
    assert "where none has ended" in finding.message


def test_quiet_when_another_key_is_missing():
    quiet(EpisodeInfoExpectedEveryStep(), crashed(lambda: {}["final_obs"]))
