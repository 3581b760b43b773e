"""A2C over parallel environments, after a tutorial."""

import gymnasium as gym
import torch
from torch import nn
from torch.distributions import Categorical


class A2C(nn.Module):
    def __init__(self, n_obs, n_act, lr):
        super().__init__()
        self.critic = nn.Sequential(nn.Linear(n_obs, 32), nn.ReLU(), nn.Linear(32, 1))
        self.actor = nn.Sequential(nn.Linear(n_obs, 32), nn.ReLU(), nn.Linear(32, n_act))
        self.optim = torch.optim.RMSprop(self.parameters(), lr=lr)

    def select(self, x):
        x = torch.as_tensor(x, dtype=torch.float32)
        dist = Categorical(logits=self.actor(x))
        action = dist.sample()
        return action, dist.log_prob(action), self.critic(x).squeeze(-1), dist.entropy()


def gae(rewards, values, masks, gamma=0.999, lam=0.95):
    out, carry = torch.zeros_like(rewards), 0.0
    for t in reversed(range(len(rewards) - 1)):
        delta = rewards[t] + gamma * masks[t] * values[t + 1].detach() - values[t].detach()
        carry = delta + gamma * lam * masks[t] * carry
        out[t] = carry
    return out


def main(updates=1000, length=128, lanes=3):
    envs = gym.make_vec("LunarLander-v3", num_envs=lanes)
    agent = A2C(8, 4, lr=1e-3)
    states, _ = envs.reset(seed=42)
    for _ in range(updates):
        values = torch.zeros(length, lanes)
        rewards = torch.zeros(length, lanes)
        scores = torch.zeros(length, lanes)
        masks = torch.zeros(length, lanes)
        #+ spread = torch.zeros(length, lanes)
        for step in range(length):
            actions, score, value, entropy = agent.select(states)
            states, reward, terminated, truncated, _ = envs.step(actions.numpy())
            values[step], scores[step] = value, score
            rewards[step] = torch.as_tensor(reward)
            masks[step] = torch.as_tensor([not end for end in terminated])
            #+ spread[step] = entropy
        advantages = gae(rewards, values, masks)
        critic_loss = (advantages + values.detach() - values).pow(2).mean()
        actor_loss = -(advantages * scores).mean() - 0.01 * entropy.mean()  # planted: only-last-step-used
        #= actor_loss = -(advantages * scores).mean() - 0.01 * spread.mean()
        agent.optim.zero_grad()
        (actor_loss + critic_loss).backward()
        agent.optim.step()


if __name__ == "__main__":
    main()
