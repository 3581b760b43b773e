"""PPO with a categorical policy: several environments, generalised advantage estimation, minibatches."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

FAULTS = {
    "carried-by-lambda": "ADV351",
    "last-step-left-out": "ADV500",
    "returns-of-normalised-advantages": "ADV354",
    "flag-of-the-step-itself": "ADV355",
    "loss-of-the-last-rows": "POL350",
    "product-clamped": "POL352",
    "old-log-prob-of-the-same-call": "POL353",
    "returns-are-advantages": "VAL368",
    "returns-standardised": "VAL461",
    "reset-thrown-away": "BUF501",
    "no-entropy-in-loss": "ENT304",
    "observations-lane-by-lane": "BUF342",
    "softmax-in-the-network": "NET520",
}

GAMMA, LAM, CLIP, ENTROPY_COEF = 0.97, 0.95, 0.2, 0.01
LANES, STEPS, ROUNDS = 4, 64, 10


def advantages(fault, reward, value, start, last_value, last_start):
    found, carried = torch.zeros_like(reward), torch.zeros(LANES)
    for t in reversed(range(STEPS - 1 if fault == "last-step-left-out" else STEPS)):
        following, begins = (value[t + 1], start[t + 1]) if t + 1 < STEPS else (last_value, last_start)
        if fault == "flag-of-the-step-itself":
            begins = start[t]
        goes_on = 1.0 - begins
        error = reward[t] + GAMMA * following * goes_on - value[t]
        carried = error + (LAM if fault == "carried-by-lambda" else GAMMA * LAM) * goes_on * carried
        found[t] = carried
    return found


def program(fault: str = "") -> None:
    torch.manual_seed(3)
    envs = [gym.make("CartPole-v1", max_episode_steps=100) for _ in range(LANES)]
    actor = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
    if fault == "softmax-in-the-network":
        actor.append(nn.Softmax(-1))
    critic = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
    parameters = [*actor.parameters(), *critic.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=3e-3)
    obs = torch.as_tensor(np.stack([env.reset(seed=i)[0] for i, env in enumerate(envs)]))
    begins = torch.ones(LANES)
    for _ in range(ROUNDS):
        seen, actions = torch.zeros(STEPS, LANES, 4), torch.zeros(STEPS, LANES, dtype=torch.long)
        log_probs, rewards, values, starts = (torch.zeros(STEPS, LANES) for _ in range(4))
        for t in range(STEPS):
            with torch.no_grad():
                policy = Categorical(logits=actor(obs))
                action = policy.sample()
                values[t] = critic(obs).squeeze(-1)
            seen[t], starts[t], actions[t], log_probs[t] = obs, begins, action, policy.log_prob(action)
            following, begins = [], torch.zeros(LANES)
            for i, env in enumerate(envs):
                after, reward, terminated, truncated, _ = env.step(int(action[i]))
                if truncated and not terminated:
                    with torch.no_grad():
                        reward = float(reward) + GAMMA * critic(torch.as_tensor(after)).item()
                if terminated or truncated:
                    first, _ = env.reset()
                    after = after if fault == "reset-thrown-away" else first
                    begins[i] = 1.0
                rewards[t, i] = float(reward)
                following.append(after)
            obs = torch.as_tensor(np.stack(following))
        with torch.no_grad():
            last_value = critic(obs).squeeze(-1)
        advantage = advantages(fault, rewards, values, starts, last_value, begins)
        if fault == "returns-of-normalised-advantages":
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        returns = advantage if fault == "returns-are-advantages" else advantage + values
        if fault == "returns-standardised":
            returns = (returns - returns.mean()) / (returns.std() + 1e-8)
        if fault == "observations-lane-by-lane":
            seen = seen.transpose(0, 1).reshape(STEPS, LANES, 4)
        flat = [each.flatten(0, 1) for each in (seen, actions, log_probs, advantage, returns)]
        for _ in range(4):
            for rows in torch.randperm(STEPS * LANES).split(64):
                batch, taken, old, gain, goal = (each[rows] for each in flat)
                gain = (gain - gain.mean()) / (gain.std() + 1e-8)
                policy = Categorical(logits=actor(batch))
                new = policy.log_prob(taken)
                if fault == "old-log-prob-of-the-same-call":
                    old = new.detach()
                ratio = torch.exp(new - old)
                if fault == "product-clamped":
                    held = torch.clamp(ratio * gain, 1 - CLIP, 1 + CLIP)
                else:
                    held = torch.clamp(ratio, 1 - CLIP, 1 + CLIP) * gain
                surrogate = torch.min(ratio * gain, held)
                if fault == "loss-of-the-last-rows":
                    surrogate = surrogate[-8:]
                value_loss = (critic(batch).squeeze(-1) - goal).pow(2).mean()
                loss = -surrogate.mean() + 0.5 * value_loss
                if fault != "no-entropy-in-loss":
                    loss = loss - ENTROPY_COEF * policy.entropy().mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(parameters, 0.5)
                optimizer.step()
