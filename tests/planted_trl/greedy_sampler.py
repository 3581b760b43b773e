"""Sampling is turned off: the likeliest answer is written for the whole group."""

from __future__ import annotations

EXPECT = "ACT510"


def plant(job):
    job.settings |= {"generation_kwargs": {"do_sample": False}}
