"""An episode that follows another begins with a step of the middle, not with a first one."""

from __future__ import annotations

from tests.planted_envs._time_step import MID, Balance

EXPECT = "ENV011"


class Middle(Balance):
    def step(self, action):
        if self.over:
            return self.reset()._replace(step_type=MID, reward=0.0, discount=1.0)
        return super().step(action)


def make(seed=None):
    return Middle(seed)


def sound(seed=None):
    return Balance(seed)
