"""Advantage actor-critic on a grid: the update, from what was collected."""

import torch
from torch.distributions import Categorical


def improve(chooser, judge, tuner, batch, discount=0.97):
    total, targets = 0.0, []
    for gain, over in zip(reversed(batch["gains"]), reversed(batch["overs"]), strict=True):
        total = gain + discount * total * (not over)
        targets.insert(0, total)
    targets = torch.tensor(targets)
    views = torch.stack(batch["views"])
    worth = judge(views).squeeze(-1)
    edge = (targets - worth).detach()
    choice = Categorical(logits=chooser(views))
    actor = -(edge * choice.log_prob(choice.sample())).mean()  # planted: score-of-fresh-sample
    # = actor = -(edge * choice.log_prob(torch.stack(batch["moves"]))).mean()
    critic = (targets - worth).square().mean()
    loss = actor + 0.5 * critic - 0.01 * choice.entropy().mean()
    tuner.zero_grad()
    loss.backward()
    tuner.step()
