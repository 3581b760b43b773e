"""The learning rate is ten thousand times too large."""

from __future__ import annotations

EXPECT = "OPT510"


def plant(job):
    job.settings |= {"learning_rate": 0.5, "max_steps": 8}
