from functools import cache

from gymnasium.vector import AutoresetMode, SyncVectorEnv

from rldebug.rules.environment.final_observation_overwritten import FinalObservationOverwritten
from tests.judge import fires, not_enough, quiet
from tests.watched import watched
from tests.wild import around

rule = FinalObservationOverwritten()


class Lives(around.Ledge):
    """A fall is the loss of a life: the game goes on where it was."""

    def reset(self, *, seed=None, options=None):
        if seed is not None or abs(getattr(self, "place", 9.0)) > 1.8:
            return super().reset(seed=seed)
        self.time = 0
        return self._look(), {}


@cache
def seen(fault="", kind=around.Ledge, steps=200):
    def play():
        envs = SyncVectorEnv([lambda: kind(fault)] * 3, autoreset_mode=AutoresetMode.SAME_STEP)
        agent = around.Agent("")
        agent.envs = envs
        agent.train(steps // around.LENGTH, seed=3)

    return watched(play)[1]


def test_fires_where_one_array_is_handed_out_again_and_again():
    found = fires(rule, seen("one-array-handed-out"))
    assert found.component == "environment"


def test_quiet_where_each_observation_is_its_own():
    quiet(rule, seen())


def test_quiet_where_the_state_goes_on():
    quiet(rule, seen(kind=Lives))


def test_not_enough_episodes():
    not_enough(rule, seen(steps=32))
