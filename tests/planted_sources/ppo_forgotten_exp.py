"""PPO on a table of rollouts that were collected elsewhere."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical

EPSILON, ENTROPY, EPOCHS = 0.2, 0.01, 4

policy = nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 3))
critic = nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.Adam([*policy.parameters(), *critic.parameters()], lr=3e-4)


def improve(obs, act, logp_old, adv, ret):
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(obs)).split(64):
            dist = Categorical(logits=policy(obs[rows]))
            ratio = dist.log_prob(act[rows]) - logp_old[rows]
            #+ ratio = ratio.exp()
            plain = ratio * adv[rows]
            held = torch.clamp(ratio, 1 - EPSILON, 1 + EPSILON) * adv[rows]  # planted: log-ratio-clipped-around-one
            #= held = torch.clamp(ratio, 1 - EPSILON, 1 + EPSILON) * adv[rows]
            value_loss = F.mse_loss(critic(obs[rows]).squeeze(-1), ret[rows])
            loss = 0.5 * value_loss - torch.min(plain, held).mean() - ENTROPY * dist.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
