from rldebug.evidence.env_play import EnvPlay, Play
from rldebug.rules.environment.clock_terminates import ClockTerminates
from tests.judge import fires, not_enough, quiet


def played(lengths=(64,) * 20, truncated=0, time_told=0.01):
    plays = [
        Play(name, "constant", (1.0,) * len(lengths), lengths, len(lengths) - truncated, truncated)
        for name in ("random", "always 0", "cyclic")
    ]
    return EnvPlay("x", tuple(plays), time_told=time_told)


def test_fires_when_all_terminate_at_the_same_step():
    assert "60 episodes of 3 players, all terminated after 64 steps" in fires(ClockTerminates(), played()).seen


def test_quiet_when_the_observation_tells_the_time():
    quiet(ClockTerminates(), played(time_told=0.99))


def test_quiet_when_one_length_differs():
    quiet(ClockTerminates(), played((64,) * 19 + (63,)))


def test_quiet_when_they_are_truncated():
    quiet(ClockTerminates(), played(truncated=20))


def test_declines_on_a_few_episodes():
    not_enough(ClockTerminates(), played((64,) * 3))
