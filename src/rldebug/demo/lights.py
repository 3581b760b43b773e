"""PPO on a row of lights. An ordinary training script: it imports nothing of rldebug."""

import argparse

import gymnasium as gym
import numpy as np
import torch
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from torch import nn
from torch.distributions import Categorical

BUTTONS = 3
LONGEST = 10  # presses in an episode
ENVS, STEPS = 8, 32
EPOCHS, MINIBATCH = 4, 64
GAMMA, LAMBDA, CLIP = 0.9, 0.95, 0.2


class Lights(gym.Env):
    """One light is on, and its button pays 1. A wrong button, or the tenth right one, ends the episode."""

    observation_space = gym.spaces.Box(0.0, 1.0, (BUTTONS + 1,))
    action_space = gym.spaces.Discrete(BUTTONS)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.left = LONGEST
        return self.look(), {}

    def step(self, action):
        right = int(action) == self.light
        self.left -= 1
        return self.look(), float(right), not right or self.left == 0, False, {}

    def look(self):
        self.light = int(self.np_random.integers(BUTTONS))
        return np.array([*np.eye(BUTTONS)[self.light], self.left / LONGEST], dtype=np.float32)


def gae(rewards, values, terminated, last_value):
    advantages = torch.zeros_like(rewards)
    next_value, next_advantage = last_value, torch.zeros_like(last_value)
    for t in reversed(range(len(rewards))):
        goes_on = 1.0 - terminated[t].float()
        delta = rewards[t] + GAMMA * goes_on * next_value - values[t]
        advantages[t] = next_advantage = delta + GAMMA * LAMBDA * goes_on * next_advantage
        next_value = values[t]
    return advantages


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--iterations", type=int, default=25)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    envs = SyncVectorEnv([Lights] * ENVS, autoreset_mode=AutoresetMode.SAME_STEP)
    policy = nn.Sequential(nn.Linear(BUTTONS + 1, 32), nn.Tanh(), nn.Linear(32, BUTTONS))
    critic = nn.Sequential(nn.Linear(BUTTONS + 1, 32), nn.Tanh(), nn.Linear(32, 1), nn.Flatten(0))
    optimizer = torch.optim.Adam([*policy.parameters(), *critic.parameters()], lr=3e-3)

    obs = torch.tensor(envs.reset(seed=args.seed)[0])
    for iteration in range(args.iterations):
        steps = []
        for _ in range(STEPS):
            with torch.no_grad():
                dist = Categorical(logits=policy(obs))
                action = dist.sample()
                logp, value = dist.log_prob(action), critic(obs)
            next_obs, reward, terminated, _, _ = envs.step(action.numpy())
            steps.append((obs, action, logp, value, torch.tensor(reward).float(), torch.tensor(terminated)))
            obs = torch.tensor(next_obs)
        b_obs, b_action, b_logp, b_value, b_reward, b_terminated = (
            torch.stack(each) for each in zip(*steps, strict=True)
        )
        with torch.no_grad():
            b_advantage = gae(b_reward, b_value, b_terminated, critic(obs))
        b_return = b_advantage + b_value

        batch = [each.flatten(0, 1) for each in (b_obs, b_action, b_logp, b_advantage, b_return)]
        for _ in range(EPOCHS):
            for rows in torch.randperm(STEPS * ENVS).view(-1, MINIBATCH):
                mb_obs, mb_action, mb_logp, mb_advantage, mb_return = (each[rows] for each in batch)
                dist = Categorical(logits=policy(mb_obs))
                ratio = (dist.log_prob(mb_action) - mb_logp).exp()
                clipped = ratio.clamp(1 - CLIP, 1 + CLIP)
                policy_loss = -torch.min(ratio * mb_advantage, clipped * mb_advantage).mean()
                value_loss = (critic(mb_obs) - mb_return).square().mean()
                loss = policy_loss + 0.5 * value_loss - 0.01 * dist.entropy().mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        if iteration % 5 == 4:
            print(f"iteration {iteration + 1}: reward per step {b_reward.mean():.2f}")


if __name__ == "__main__":
    main()
