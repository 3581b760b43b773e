"""The reference is brought up to date after every update."""

from __future__ import annotations

EXPECT = "POL518"


def plant(job):
    job.settings |= {"beta": 0.1, "sync_ref_model": True, "ref_model_sync_steps": 1, "ref_model_mixup_alpha": 1.0}
