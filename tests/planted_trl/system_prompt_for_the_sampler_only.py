"""The sampler gets a prefix that the trainer does not know of."""

from __future__ import annotations

EXPECT = "PRE513"


def plant(job):
    job.trainer = wrong_trainer()


def wrong_trainer():
    from trl import GRPOTrainer

    class Trainer(GRPOTrainer):
        def _tokenize_prompts(self, prompts):
            ids, *rest = super()._tokenize_prompts(prompts)
            return [[5, 6, *each] for each in ids], *rest

        def _generate(self, prompts):
            ids, *rest = super()._generate(prompts)
            return [each[2:] for each in ids], *rest

    return Trainer
