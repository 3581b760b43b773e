"""A2C in lanes, with bookkeeping of the scores."""

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

LANES = 16


def main(updates=2000, horizon=5, gamma=0.99):
    lanes = gym.make_vec("CartPole-v1", num_envs=LANES)
    actor = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 2))
    critic = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 1))
    optimizer = torch.optim.RMSprop([*actor.parameters(), *critic.parameters()], lr=7e-4)
    x, _ = lanes.reset(seed=1)
    scores, finished = np.zeros(LANES), []
    for _ in range(updates):
        logps, values, entropies, rewards, lasting = [], [], [], [], []
        for _ in range(horizon):
            now = torch.as_tensor(x)
            pi = Categorical(logits=actor(now))
            move = pi.sample()
            x, reward, ended, cut, _ = lanes.step(move.numpy())
            scores += reward
            over = ended or cut  # planted: flags-of-lanes-as-one
            # = over = ended | cut
            finished.extend(scores[over])
            scores[over] = 0.0
            logps.append(pi.log_prob(move))
            entropies.append(pi.entropy())
            values.append(critic(now).squeeze(-1))
            rewards.append(torch.as_tensor(reward).float())
            lasting.append(torch.as_tensor(~over).float())
        with torch.no_grad():
            total = critic(torch.as_tensor(x)).squeeze(-1)
        goals = []
        for reward, goes_on in zip(reversed(rewards), reversed(lasting), strict=True):
            total = reward + gamma * goes_on * total
            goals.append(total)
        goals, values = torch.stack(goals[::-1]), torch.stack(values)
        better = (goals - values).detach()
        loss = -(torch.stack(logps) * better).mean() + 0.5 * (goals - values).pow(2).mean()
        loss = loss - 0.01 * torch.stack(entropies).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_([*actor.parameters(), *critic.parameters()], 0.5)
        optimizer.step()
    print(np.mean(finished[-100:]))


if __name__ == "__main__":
    main()
