"""The reward is a mean that is taken of nothing for some answers."""

from __future__ import annotations

EXPECT = "ENV511"


def plant(job):
    job.rewards = [score]


def score(completions, **kwargs):
    return [mean([word in "abc" for word in each.split() if word.isalpha()]) for each in completions]


def mean(values):
    return sum(values) / len(values) if values else float("nan")
