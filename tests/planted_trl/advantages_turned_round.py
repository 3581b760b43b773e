"""Advantages are reversed within every group."""

from __future__ import annotations

EXPECT = "ADV513"


def plant(job):
    job.trainer = wrong_trainer()


def wrong_trainer():
    from trl import GRPOTrainer

    class Trainer(GRPOTrainer):
        def _generate_and_score_completions(self, inputs):
            batch = super()._generate_and_score_completions(inputs)
            batch["advantages"] = batch["advantages"].view(-1, self.num_generations).flip(1).flatten()
            return batch

    return Trainer
