"""Answers are sorted by length for scoring, and rewards are not put back."""

from __future__ import annotations

EXPECT = "ENV512"


def plant(job):
    job.rewards = [score]
    job.watch = {"score_again": True}


def score(completions, **kwargs):
    batch = sorted(completions, key=len)
    return [sum(word.isalpha() for word in each.split()) / max(1, len(each.split())) for each in batch]
