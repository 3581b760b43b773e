"""beta is negative: the policy is paid for leaving the reference."""

from __future__ import annotations

EXPECT = "POL517"


def plant(job):
    job.settings |= {"beta": -0.3}
