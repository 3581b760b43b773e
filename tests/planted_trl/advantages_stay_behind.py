"""Answers are sorted by length before the loss, and the advantages are not."""

from __future__ import annotations

EXPECT = "ADV513"


def plant(job):
    job.trainer = wrong_trainer()


def wrong_trainer():
    from trl import GRPOTrainer

    class Trainer(GRPOTrainer):
        def _prepare_inputs(self, generation_batch):
            batch = dict(super()._prepare_inputs(generation_batch))
            order = batch["completion_mask"].sum(1).argsort(stable=True)
            for name in ("prompt_ids", "prompt_mask", "completion_ids", "completion_mask"):
                batch[name] = batch[name][order]
            return batch

    return Trainer
