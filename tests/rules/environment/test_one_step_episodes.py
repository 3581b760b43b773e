from rldebug.evidence.env_play import EnvPlay, Play, Twins
from rldebug.rules.environment.one_step_episodes import OneStepEpisodes
from tests.judge import fires, not_enough, quiet


def played(lengths=(1,) * 50, obs_differ=12, **more):
    plays = (Play("random", "random", (0.5,) * len(lengths), lengths, terminated=len(lengths)),)
    return EnvPlay("x", plays, twins=Twins(pairs=12, obs_differ=obs_differ), **more)


def test_fires_when_actions_move_the_state():
    assert "another observation" in fires(OneStepEpisodes(), played()).seen


def test_fires_when_the_time_limit_is_longer():
    assert "the time limit is 200" in fires(OneStepEpisodes(), played(obs_differ=0, time_limit=200)).seen


def test_quiet_on_a_task_of_one_decision():
    quiet(OneStepEpisodes(), played(obs_differ=0))


def test_quiet_when_one_episode_was_longer():
    quiet(OneStepEpisodes(), played((1,) * 49 + (2,)))


def test_quiet_when_it_is_registered_for_one_step():
    quiet(OneStepEpisodes(), played(time_limit=1))


def test_declines_on_a_few_episodes():
    not_enough(OneStepEpisodes(), played((1,) * 5))
