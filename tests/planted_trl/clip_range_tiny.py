"""The clip range was typed with two zeros too many."""

from __future__ import annotations

EXPECT = "POL519"


def plant(job):
    job.settings |= {"epsilon": 0.002, "num_iterations": 4, "max_steps": 12}
