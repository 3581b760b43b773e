"""The log-probs of the reference are taken for those of the old policy."""

from __future__ import annotations

EXPECT = "POL511"


def plant(job):
    job.settings |= {"beta": 0.05, "num_iterations": 2, "max_steps": 12}
    job.trainer = wrong_trainer()


def wrong_trainer():
    from trl import GRPOTrainer

    class Trainer(GRPOTrainer):
        def _generate_and_score_completions(self, inputs):
            batch = super()._generate_and_score_completions(inputs)
            batch["old_per_token_logps"] = batch["ref_per_token_logps"]
            return batch

    return Trainer
