"""The rewards are sorted before they are returned."""

from __future__ import annotations

EXPECT = "ENV512"


def plant(job):
    job.rewards = [score]


def score(completions, **kwargs):
    return sorted(sum(word.isalpha() for word in each.split()) / max(1, len(each.split())) for each in completions)
