"""Cut answers are left out of the loss, and every answer is cut."""

from __future__ import annotations

EXPECT = "POL521"


def plant(job):
    job.settings |= {"mask_truncated_completions": True, "generation_kwargs": {"min_new_tokens": 10}}
