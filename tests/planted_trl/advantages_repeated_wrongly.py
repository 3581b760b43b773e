"""Rewards are arranged as if the answers to a prompt were not next to one another."""

from __future__ import annotations

EXPECT = "ADV511"


def plant(job):
    job.trainer = wrong_trainer()


def wrong_trainer():
    from trl import GRPOTrainer

    class Trainer(GRPOTrainer):
        def _calculate_rewards(self, *args, **kwargs):
            self.scores = super()._calculate_rewards(*args, **kwargs)
            return self.scores

        def _generate_and_score_completions(self, inputs):
            batch = super()._generate_and_score_completions(inputs)
            rewards = self.scores.sum(1)
            grouped = rewards.view(self.num_generations, -1)
            batch["advantages"] = (grouped - grouped.mean(0)).flatten()
            return batch

    return Trainer
