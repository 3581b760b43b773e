"""Answers may not end before their limit."""

from __future__ import annotations

EXPECT = "ACT511"


def plant(job):
    job.settings |= {"max_completion_length": 24, "generation_kwargs": {"min_new_tokens": 24}}
