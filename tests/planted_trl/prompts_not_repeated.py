"""A sampler of one's own draws prompts one by one: a group holds answers to several."""

from __future__ import annotations

from torch.utils.data import RandomSampler

EXPECT = "ADV510"


def plant(job):
    job.trainer = wrong_trainer()


def wrong_trainer():
    from trl import GRPOTrainer

    class Trainer(GRPOTrainer):
        def _get_train_sampler(self, dataset=None):
            return RandomSampler(self.train_dataset if dataset is None else dataset)

    return Trainer
