"""The loss is the objective itself: the minus is missing."""

from __future__ import annotations

EXPECT = "POL516"


def plant(job):
    job.trainer = wrong_trainer()


def wrong_trainer():
    from trl import GRPOTrainer

    class Trainer(GRPOTrainer):
        def _compute_loss(self, model, inputs):
            return -super()._compute_loss(model, inputs)

    return Trainer
