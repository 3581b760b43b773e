from rldebug.evidence.env_play import EnvPlay, Play
from rldebug.rules.environment.no_episode_ends import NoEpisodeEnds
from tests.judge import fires, not_enough, quiet


def played(longest=5000, players=4, ended=(), **more):
    plays = [Play(f"always {number}", "constant", longest=longest) for number in range(players - 1)]
    return EnvPlay("x", (Play("random", "random", ended, (10,) * len(ended), longest=longest), *plays), **more)


def test_fires_when_nobody_came_to_an_end():
    assert "4 players" in fires(NoEpisodeEnds(), played()).seen


def test_quiet_when_one_episode_ended():
    quiet(NoEpisodeEnds(), played(ended=(3.0,)))


def test_quiet_when_there_is_a_time_limit():
    quiet(NoEpisodeEnds(), played(time_limit=27_000))


def test_declines_when_nobody_played_for_long():
    not_enough(NoEpisodeEnds(), played(longest=900))
