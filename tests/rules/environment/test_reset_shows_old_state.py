from rldebug.rules.environment.reset_shows_old_state import ResetShowsOldState
from tests.judge import fires, not_enough, quiet
from tests.programs.worlds import Line, learn
from tests.watched import watched

rule = ResetShowsOldState()


class Lives(Line):
    """An end is the loss of a life: the game goes on where it was."""

    def reset(self, *, seed=None, options=None):
        if seed is not None:
            return super().reset(seed=seed)
        self.count = 0
        self.speed *= 0.9
        return self.seen, {}

    def step(self, action):
        self.place *= 0.8
        return super().step(action)


def seen(env=None, steps=160):
    return watched(lambda: learn(env, steps=steps), overhead_budget=9.0)[1]  # every phase is looked at


def test_fires_where_the_last_observation_comes_again():
    found = fires(rule, seen(Line("old reset")))
    assert found.component == "environment"


def test_quiet_where_a_reset_shows_the_start():
    quiet(rule, seen(steps=240))


def test_quiet_where_the_state_goes_on():
    quiet(rule, seen(Lives(), steps=240))


def test_not_enough_resets():
    assert "resets" in not_enough(rule, seen(steps=12))
