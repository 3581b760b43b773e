"""Actor and critic with an optimizer each, on a bandit with drifting arms."""

import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical

ARMS = 5


def arms(rng, spread):
    return rng.normal(0.0, spread, ARMS)


def main(seed=3, rounds=4000):
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    chooser = nn.Sequential(nn.Linear(ARMS, 32), nn.Tanh(), nn.Linear(32, ARMS))
    judge = nn.Sequential(nn.Linear(ARMS, 32), nn.Tanh(), nn.Linear(32, 1))
    chooser_opt = torch.optim.Adam(chooser.parameters(), lr=3e-3)
    judge_opt = torch.optim.Adam(judge.parameters(), lr=1e-2)
    means = arms(rng, 1.0)
    for _ in range(rounds):
        means = means + arms(rng, 0.02)
        context = torch.as_tensor(means + arms(rng, 0.1), dtype=torch.float32)
        policy = Categorical(logits=chooser(context))
        arm = policy.sample()
        payoff = float(rng.normal(means[arm.item()], 0.5))

        surprise = payoff - judge(context).squeeze(-1)
        judge_loss = surprise.pow(2)
        # + judge_opt.zero_grad()
        judge_loss.backward()
        judge_opt.step()  # planted: gradients-never-cleared
        # = judge_opt.step()

        chooser_loss = -policy.log_prob(arm) * surprise.detach()
        chooser_opt.zero_grad()
        chooser_loss.backward()
        chooser_opt.step()
    return chooser, judge


if __name__ == "__main__":
    main()
