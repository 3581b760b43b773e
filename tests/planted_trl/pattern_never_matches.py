"""The reward looks for a format that no answer has."""

from __future__ import annotations

EXPECT = "ENV510"


def plant(job):
    job.rewards = [score]


def score(completions, **kwargs):
    return [float(each.startswith("<answer>")) for each in completions]
