from rldebug.evidence.env_play import EnvPlay, Play
from rldebug.rules.performance.environment_slow import EnvironmentSlow
from tests.judge import fires, not_enough, quiet


def played(seconds, steps=500):
    return EnvPlay("x", (Play("random", "random", steps=steps),), step_seconds=seconds)


def test_fires_below_twenty_five_steps_per_second():
    assert "20 steps/s" in fires(EnvironmentSlow(), played(0.05)).seen


def test_quiet_at_forty_steps_per_second():
    quiet(EnvironmentSlow(), played(0.025))


def test_declines_on_a_few_steps():
    not_enough(EnvironmentSlow(), played(0.05, steps=3))
