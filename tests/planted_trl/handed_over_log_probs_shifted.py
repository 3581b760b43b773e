"""A rollout function hands over log-probs of the token before."""

from __future__ import annotations

import torch

EXPECT = "POL510"


def plant(job):
    job.extra = {"rollout_func": lambda prompts, trainer: rollout(prompts, trainer, shift=1)}


def rollout(prompts, trainer, shift=0):
    """Answers and their log-probs, as a sampler of one's own gives them; without a shift they are right."""
    ids = trainer._tokenize_prompts(prompts)[0]
    answers, _ = trainer._generate_single_turn(ids, None, {}, trainer.num_generations)
    said = []
    for prompt, answer in zip(ids, answers, strict=True):
        row = torch.tensor([[*prompt, *answer]])
        with torch.no_grad():
            logps = trainer._get_per_token_logps_and_entropies(trainer.model, row, torch.ones_like(row), len(answer))
        said.append(logps[0][0].roll(shift).tolist())
    return {"prompt_ids": ids, "completion_ids": answers, "logprobs": said}
