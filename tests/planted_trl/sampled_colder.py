"""The sampler has another temperature than the trainer."""

from __future__ import annotations

EXPECT = "POL510"


def plant(job):
    job.settings |= {"generation_kwargs": {"temperature": 0.4}}
