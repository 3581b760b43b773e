"""The reward counts words."""

from __future__ import annotations

EXPECT = "ENV513"


def plant(job):
    job.rewards = [score]
    job.settings |= {"max_completion_length": 20, "max_steps": 24, "learning_rate": 4e-3}


def score(completions, **kwargs):
    return [float(len(each.split())) for each in completions]
