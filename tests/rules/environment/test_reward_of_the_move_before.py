import gymnasium

from rldebug.rules.environment.reward_of_the_move_before import RewardOfTheMoveBefore
from tests.judge import fires, not_enough, quiet
from tests.programs.worlds import Line, learn
from tests.watched import watched

rule = RewardOfTheMoveBefore()


class Paid(Line):
    """How far each push takes it counts, not only where it is."""

    def step(self, action):
        seen, reward, *rest = super().step(action)
        return seen, reward - (0.7 if action == 1 else 0.0), *rest


class Kept(gymnasium.Wrapper):
    """Hands rewards on one step late."""

    kept = 0.0

    def reset(self, **options):
        self.kept = 0.0
        return super().reset(**options)

    def step(self, action):
        obs, reward, *rest = super().step(action)
        reward, self.kept = self.kept, reward
        return obs, reward, *rest


class Begun(Line):
    """Pays for where the step begins, as Pendulum does."""

    def step(self, action):
        reward = 1.0 - abs(self.place)
        seen, _, *rest = super().step(action)
        return seen, reward, *rest


def seen(env, steps=560):
    return watched(lambda: learn(env, steps=steps))[1]


def test_fires_where_rewards_follow_from_the_step_before():
    found = fires(rule, seen(Kept(Paid())))
    assert found.component == "environment"
    assert "step before" in found.seen


def test_fires_where_all_first_rewards_are_nothing():
    found = fires(rule, seen(Kept(Line())))
    assert "first one of all" in found.seen


def test_quiet_where_the_step_is_paid():
    quiet(rule, seen(Line()))
    quiet(rule, seen(Paid()))


def test_quiet_where_the_beginning_of_the_step_is_paid():
    quiet(rule, seen(Begun()))


def test_not_enough_steps():
    assert "steps" in not_enough(rule, seen(Line(), steps=40))
