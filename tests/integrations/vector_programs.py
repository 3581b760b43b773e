"""PPO over a vector of environments, written for any way in which they restart; and what users get wrong there."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

GAMMA, LAM = 0.99, 0.95


def cart_poles(kind, mode, *, many=8, limit=12, **more):
    """`kind` is SyncVectorEnv or AsyncVectorEnv; the time limit cuts most episodes off."""
    return kind([lambda: gym.make("CartPole-v1", max_episode_steps=limit)] * many, autoreset_mode=mode, **more)


def ppo(envs, restarts, *, bug="", updates=7, steps=48, act=lambda action: action, **reset):
    """`restarts`: next-step, same-step or disabled. `bug`: phantom rows learned, or a bootstrap from the reset.

    `reset`: what the vector is reset with.
    """
    torch.manual_seed(0)
    actor = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
    critic = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=1e-3)
    obs, _ = envs.reset(**reset)
    lanes = len(obs)
    over = np.zeros(lanes, bool)
    for _ in range(updates):
        rows = []
        for _ in range(steps):
            x = torch.as_tensor(obs, dtype=torch.float32)
            with torch.no_grad():
                dist = Categorical(logits=actor(x))
                action = dist.sample()
                logp, value = dist.log_prob(action), critic(x).squeeze(-1)
            obs, reward, terminated, truncated, info = envs.step(act(action.numpy()))
            done = terminated | truncated
            after = obs.copy()
            if restarts == "same-step" and bug != "reset":
                for lane in np.flatnonzero(done):
                    after[lane] = info["final_obs"][lane]
            with torch.no_grad():
                following = critic(torch.as_tensor(after, dtype=torch.float32)).squeeze(-1)
            following = following * torch.as_tensor(~terminated)
            real = ~over if restarts == "next-step" and bug != "phantom" else np.ones(lanes, bool)
            told = (torch.as_tensor(reward, dtype=torch.float32), following, *map(torch.as_tensor, (done, real)))
            rows.append((x, action, logp, value, *told))
            over = done
            if restarts == "disabled" and done.any():
                obs, _ = envs.reset(options={"reset_mask": done})
        learn(rows, actor, critic, optimizer)
    envs.close()
    return nn.ModuleList([actor, critic])


def learn(rows, actor, critic, optimizer):
    x, action, logp, value, reward, following, done, real = map(torch.stack, zip(*rows, strict=True))
    advantage, last = torch.zeros_like(reward), torch.zeros(reward.shape[1])
    for t in reversed(range(len(reward))):
        last = reward[t] + GAMMA * following[t] - value[t] + GAMMA * LAM * (~done[t]) * last
        last = advantage[t] = last * real[t]
    keep = real.reshape(-1)
    flat = [each.flatten(0, 1)[keep] for each in (x, action, logp, advantage, advantage + value)]
    for _ in range(4):
        for chosen in torch.randperm(len(flat[0])).split(96):
            x, action, logp, advantage, target = (each[chosen] for each in flat)
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
            dist = Categorical(logits=actor(x))
            ratio = (dist.log_prob(action) - logp).exp()
            loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
            loss = loss + 0.5 * (critic(x).squeeze(-1) - target).pow(2).mean() - 0.01 * dist.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
