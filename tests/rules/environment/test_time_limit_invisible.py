from rldebug.evidence.env_play import EnvPlay, Play
from rldebug.rules.environment.time_limit_invisible import TimeLimitInvisible
from tests.judge import fires, not_enough, quiet


def played(lengths=(200,) * 20, terminated=0, time_told=0.01):
    play = Play("random", "random", (1.0,) * len(lengths), lengths, terminated, len(lengths) - terminated)
    return EnvPlay("x", (play,), time_told=time_told)


def test_fires_when_only_the_clock_ends_episodes():
    assert "all truncated after 200 steps" in fires(TimeLimitInvisible(), played()).seen


def test_quiet_when_the_observation_tells_the_time():
    quiet(TimeLimitInvisible(), played(time_told=0.95))


def test_quiet_when_one_episode_terminated():
    quiet(TimeLimitInvisible(), played(terminated=1))


def test_declines_on_a_few_episodes():
    not_enough(TimeLimitInvisible(), played((200,)))
