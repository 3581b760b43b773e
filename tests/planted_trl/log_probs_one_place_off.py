"""Scores are paired with the token before."""

from __future__ import annotations

EXPECT = "POL510"


def plant(job):
    job.trainer = wrong_trainer()


def wrong_trainer():
    from trl import GRPOTrainer

    class Trainer(GRPOTrainer):
        def _get_per_token_logps_and_entropies(self, *args, **kwargs):
            logps, *rest = super()._get_per_token_logps_and_entropies(*args, **kwargs)
            return logps.roll(1, 1), *rest

    return Trainer
