"""The mask of the loss is taken from the tokens: whatever is no end."""

from __future__ import annotations

EXPECT = "POL515"


def plant(job):
    job.trainer = wrong_trainer()


def wrong_trainer():
    from trl import GRPOTrainer

    class Trainer(GRPOTrainer):
        def _generate_and_score_completions(self, inputs):
            batch = super()._generate_and_score_completions(inputs)
            batch["completion_mask"] = batch["completion_mask"] * (batch["completion_ids"] != self.eos_token_ids[0])
            return batch

    return Trainer
