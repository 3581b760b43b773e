"""The coefficient of the entropy has the wrong sign."""

from __future__ import annotations

EXPECT = "ENT510"


def plant(job):
    job.settings |= {"entropy_coef": -3.0, "max_steps": 24, "learning_rate": 0.006}
