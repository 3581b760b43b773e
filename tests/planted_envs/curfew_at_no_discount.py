"""After sixty steps time is up: the last step says, with a discount of 0, that nothing comes after it."""

from __future__ import annotations

from tests.planted_envs._time_step import Balance

EXPECT = "ENV023"


class Curfew(Balance):
    def discount(self, fallen):
        return 0.0 if self.over else 1.0


def make(seed=None):
    return Curfew(seed)


def sound(seed=None):
    return Balance(seed)
