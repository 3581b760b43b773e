"""A tiny bonus decides wherever answers are equally wrong."""

from __future__ import annotations

EXPECT = "ADV515"


def plant(job):
    job.rewards = [score]


def score(completions, **kwargs):
    return [float("a b" in each) + 1e-3 * each.count("c") for each in completions]
