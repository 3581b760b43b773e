# planted: PRF913 logging-every-step
# part: logging
"""A2C on CartPole with TensorBoard."""

import tempfile
import time

import gymnasium as gym
import torch
import torch.nn as nn
from torch.distributions import Categorical
from torch.utils.tensorboard import SummaryWriter


def train(folder, updates=200, n_steps=16, num_envs=8):
    torch.manual_seed(0)
    writer = SummaryWriter(folder)
    envs = gym.vector.SyncVectorEnv([lambda: gym.make("CartPole-v1") for _ in range(num_envs)])
    actor = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 2))
    critic = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 1))
    optimizer = torch.optim.RMSprop([*actor.parameters(), *critic.parameters()], lr=7e-4)
    start, global_step = time.perf_counter(), 0
    obs = torch.from_numpy(envs.reset(seed=0)[0])
    for _ in range(updates):
        log_probs, values, rewards, masks, entropies = [], [], [], [], []
        for _ in range(n_steps):
            dist, value = Categorical(logits=actor(obs)), critic(obs).squeeze(1)
            action = dist.sample()
            next_obs, reward, terminated, truncated, _ = envs.step(action.numpy())
            global_step += num_envs
            entropy = dist.entropy()
            for k in range(num_envs):
                writer.add_scalar(f"reward/{k}", reward[k], global_step)  # here
            log_probs.append(dist.log_prob(action))
            values.append(value)
            entropies.append(entropy)
            rewards.append(torch.from_numpy(reward).float())
            masks.append(1 - torch.from_numpy(terminated | truncated).float())
            obs = torch.from_numpy(next_obs)
        with torch.no_grad():
            R = critic(obs).squeeze(1)
        returns = []
        for r, m in zip(rewards[::-1], masks[::-1]):
            R = r + 0.99 * R * m
            returns.insert(0, R)
        advantage = torch.cat(returns) - torch.cat(values)
        actor_loss = -(torch.cat(log_probs) * advantage.detach()).mean()
        loss = actor_loss + 0.5 * advantage.pow(2).mean() - 0.001 * torch.cat(entropies).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        writer.add_scalar("loss", loss.item(), global_step)
    seconds = time.perf_counter() - start
    writer.close()
    print(f"loss={loss.item():.3f} seconds={seconds:.3f}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        train(folder)
