"""The learning rate is so small that no weight feels it."""

from __future__ import annotations

EXPECT = "OPT511"


def plant(job):
    job.settings |= {"learning_rate": 1e-14}
