from rldebug.evidence.run import Run
from rldebug.rules.environment.episode_never_ends import EpisodeNeverEnds
from tests.judge import fires, not_enough, quiet


def run(steps, count=0.0, limit=None, registered=None, vector=False, **more):
    numbers = {"episode/steps": [steps / 4] * 4, "episode/count": [count] * 4, **more}
    env = {"time_limit": limit, "registered_limit": registered, "vector": vector}
    return Run.from_series(numbers, facts={"env": env})


def test_fires_when_several_registered_time_limits_passed():
    assert "200" in fires(EpisodeNeverEnds(), run(1000, registered=200)).seen


def test_fires_when_nothing_ended_in_very_many_steps():
    fires(EpisodeNeverEnds(), run(200_000))


def test_quiet_when_one_episode_ended():
    quiet(EpisodeNeverEnds(), run(200_000, count=1.0))


def test_quiet_when_the_loop_cuts_episodes_off_itself():
    quiet(EpisodeNeverEnds(), run(200_000, **{"rollout/truncated": [0.01] * 4}))


def test_declines_while_the_time_limit_has_not_passed_often_enough():
    not_enough(EpisodeNeverEnds(), run(400, limit=200))


def test_declines_while_a_vector_may_still_be_in_its_first_episodes():
    not_enough(EpisodeNeverEnds(), run(64 * 500, limit=500, vector=True))
