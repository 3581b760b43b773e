"""Answers are scored without the attention mask."""

from __future__ import annotations

import torch

EXPECT = "POL512"


def plant(job):
    job.trainer = wrong_trainer()


def wrong_trainer():
    from trl import GRPOTrainer

    class Trainer(GRPOTrainer):
        def _get_per_token_logps_and_entropies(self, model, input_ids, attention_mask, *args, **kwargs):
            shown = torch.ones_like(attention_mask)
            return super()._get_per_token_logps_and_entropies(model, input_ids, shown, *args, **kwargs)

    return Trainer
