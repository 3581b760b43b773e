"""What generate returns is taken for the answer: the prompt is still in front."""

from __future__ import annotations

EXPECT = "POL514"


def plant(job):
    job.trainer = wrong_trainer()


def wrong_trainer():
    from trl import GRPOTrainer

    class Trainer(GRPOTrainer):
        def _generate_single_turn(self, prompt_ids, *args, **kwargs):
            answers, logprobs = super()._generate_single_turn(prompt_ids, *args, **kwargs)
            return [[*prompt, *each] for prompt, each in zip(prompt_ids, answers, strict=True)], logprobs

    return Trainer
