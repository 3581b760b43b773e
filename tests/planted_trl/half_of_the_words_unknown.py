"""The tokenizer knows only some of the words of the prompts."""

from __future__ import annotations

EXPECT = "PRE512"


def plant(job):
    job.prompts = [f"{each} Please answer" for each in job.prompts]
