"""The difference to the mean is taken the wrong way round."""

from __future__ import annotations

EXPECT = "ADV512"


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
            grouped = rewards.view(-1, self.num_generations)
            batch["advantages"] = (grouped.mean(1, keepdim=True) - grouped).flatten()
            return batch

    return Trainer
