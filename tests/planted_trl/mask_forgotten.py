"""A loss of one's own averages over all places, filler too."""

from __future__ import annotations

import torch

EXPECT = "POL513"


def plant(job):
    job.trainer = wrong_trainer()


def wrong_trainer():
    from trl import GRPOTrainer

    class Trainer(GRPOTrainer):
        def _compute_loss(self, model, inputs):
            ids = torch.cat([inputs["prompt_ids"], inputs["completion_ids"]], 1)
            shown = torch.cat([inputs["prompt_mask"], torch.ones_like(inputs["completion_mask"])], 1)
            logps = self._get_per_token_logps_and_entropies(model, ids, shown, inputs["completion_ids"].shape[1])[0]
            return -((logps - logps.detach()).exp() * inputs["advantages"][:, None]).mean()

    return Trainer
