"""Answers are used twice, and the log-probs they were written with are thrown away."""

from __future__ import annotations

EXPECT = "POL520"


def plant(job):
    job.settings |= {"num_iterations": 2}
    job.trainer = wrong_trainer()


def wrong_trainer():
    from trl import GRPOTrainer

    class Trainer(GRPOTrainer):
        def _generate_and_score_completions(self, inputs):
            batch = super()._generate_and_score_completions(inputs)
            batch.pop("old_per_token_logps", None)
            return batch

    return Trainer
