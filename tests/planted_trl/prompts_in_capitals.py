"""Prompts are in capitals, of which the tokenizer knows none."""

from __future__ import annotations

EXPECT = "PRE511"


def plant(job):
    job.prompts = [" ".join(each * 2 for each in pair) for pair in zip("ABCDEFGH", "HGFEDCBA", strict=True)]
