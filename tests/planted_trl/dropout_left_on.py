"""The model has dropout, which is on whenever the trainer scores."""

from __future__ import annotations

from tests.planted_trl.job import model

EXPECT = "NET510"


def plant(job):
    job.model = lambda: model(attention_dropout=0.3)
