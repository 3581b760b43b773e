import numpy as np

from rldebug.rules.environment.reset_leaves_a_part import ResetLeavesAPart
from tests.judge import fires, not_enough, quiet
from tests.programs.worlds import Line, learn
from tests.watched import watched

rule = ResetLeavesAPart()


class Rolling(Line):
    """Where it is is drawn anew, its speed is not."""

    def reset(self, **options):
        before = getattr(self, "speed", 0.0)
        super().reset(**options)
        self.speed = before
        self.seen = self._look()
        return self.seen, {}


class Going(Line):
    """Nothing is set back, as where an episode is one life of many."""

    def reset(self, **options):
        before = getattr(self, "place", 0.0), getattr(self, "speed", 0.0)
        super().reset(**options)
        self.place, self.speed = before[0] % 1, before[1] % 1
        self.seen = self._look()
        return self.seen, {}


class Daily(Line):
    """It shows the hour, by statistics that move a little with each day: both ends of one look alike."""

    days = 0

    def reset(self, **options):
        self.days += 1
        return super().reset(**options)

    def step(self, action):
        after, reward, *_, info = super().step(action)
        return after, reward, False, self.count >= 8, info

    def _look(self):
        spread = 1 + 0.01 * (self.days - (self.count == 0))  # of the day before, until a step was made
        return np.array((self.place, np.cos(np.pi * (self.count % 8) / 4) / spread), np.float32)


def seen(env, steps=160):
    return watched(lambda: learn(env, steps=steps))[1]


def test_fires_where_the_speed_is_kept():
    found = fires(rule, seen(Rolling()))
    assert found.component == "environment"
    assert "element 1 " in found.seen


def test_quiet_where_all_is_drawn_anew():
    quiet(rule, seen(Line()))


def test_quiet_where_all_goes_on():
    quiet(rule, seen(Going()))


def test_quiet_where_the_hour_is_the_same_at_both_ends_of_a_day():
    quiet(rule, seen(Daily()))


def test_not_enough_episodes():
    assert "resets" in not_enough(rule, seen(Line(), steps=20))
