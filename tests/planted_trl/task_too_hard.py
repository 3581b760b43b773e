"""Hardly any answer earns anything."""

from __future__ import annotations

EXPECT = "ADV514"


def plant(job):
    job.rewards = [score]
    job.settings |= {"max_steps": 12}


def score(completions, **kwargs):
    return [float("a b" in each) for each in completions]
