"""The reward function seeds torch, to be reproducible."""

from __future__ import annotations

import torch

EXPECT = "SEE510"


def plant(job):
    job.rewards = [score]


def score(completions, **kwargs):
    torch.manual_seed(0)
    return [each.count("a") + 0.1 * float(torch.rand(())) for each in completions]
