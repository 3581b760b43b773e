# planted: PRF900 advantages-in-python-loop
# part: advantages
"""PPO on CartPole in the manner of CleanRL: sixteen environments, generalised advantages."""

import time
from dataclasses import dataclass

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from torch.distributions.categorical import Categorical


@dataclass
class Args:
    seed: int = 1
    num_envs: int = 16
    num_steps: int = 128
    num_iterations: int = 36
    update_epochs: int = 2
    num_minibatches: int = 4
    gamma: float = 0.99
    gae_lambda: float = 0.95
    clip_coef: float = 0.2
    learning_rate: float = 2.5e-4


class Agent(nn.Module):
    def __init__(self, envs):
        super().__init__()
        n_in = int(np.prod(envs.single_observation_space.shape))
        self.critic = nn.Sequential(nn.Linear(n_in, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
        self.actor = nn.Sequential(
            nn.Linear(n_in, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, envs.single_action_space.n)
        )

    def get_value(self, x):
        return self.critic(x)

    def get_action_and_value(self, x, action=None):
        probs = Categorical(logits=self.actor(x))
        if action is None:
            action = probs.sample()
        return action, probs.log_prob(action), probs.entropy(), self.critic(x)


if __name__ == "__main__":
    args = Args()
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)
    envs = gym.vector.SyncVectorEnv([lambda: gym.make("CartPole-v1") for _ in range(args.num_envs)])
    agent = Agent(envs)
    optimizer = optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    shape = (args.num_steps, args.num_envs)
    obs = torch.zeros(shape + envs.single_observation_space.shape)
    actions, logprobs, rewards, dones, values = (torch.zeros(shape) for _ in range(5))

    start_time = time.perf_counter()
    next_obs = torch.Tensor(envs.reset(seed=args.seed)[0])
    for _ in range(args.num_iterations):
        for step in range(args.num_steps):
            obs[step] = next_obs
            with torch.no_grad():
                action, logprob, _, value = agent.get_action_and_value(next_obs)
            values[step] = value.flatten()
            actions[step] = action
            logprobs[step] = logprob
            new_obs, reward, terminated, truncated, _ = envs.step(action.numpy())
            rewards[step] = torch.from_numpy(reward)
            dones[step] = torch.from_numpy(np.logical_or(terminated, truncated))
            next_obs = torch.Tensor(new_obs)

        with torch.no_grad():
            next_value = agent.get_value(next_obs).flatten()
        advantages = torch.zeros_like(rewards)
        for env in range(args.num_envs):
            lastgaelam = 0.0
            for t in reversed(range(args.num_steps)):
                following = next_value[env] if t == args.num_steps - 1 else values[t + 1, env]
                alive = 1.0 - dones[t, env]
                delta = rewards[t, env] + args.gamma * following * alive - values[t, env]  # here
                lastgaelam = delta + args.gamma * args.gae_lambda * alive * lastgaelam
                advantages[t, env] = lastgaelam
        returns = advantages + values

        b_obs = obs.reshape((-1, *envs.single_observation_space.shape))
        b_actions, b_logprobs = actions.reshape(-1), logprobs.reshape(-1)
        b_advantages, b_returns = advantages.reshape(-1), returns.reshape(-1)
        for _ in range(args.update_epochs):
            for mb in torch.randperm(len(b_obs)).chunk(args.num_minibatches):
                _, newlogprob, entropy, newvalue = agent.get_action_and_value(b_obs[mb], b_actions[mb])
                ratio = (newlogprob - b_logprobs[mb]).exp()
                mb_adv = b_advantages[mb]
                mb_adv = (mb_adv - mb_adv.mean()) / (mb_adv.std() + 1e-8)
                clipped = torch.clamp(ratio, 1 - args.clip_coef, 1 + args.clip_coef)
                pg_loss = torch.max(-mb_adv * ratio, -mb_adv * clipped).mean()
                v_loss = 0.5 * ((newvalue.flatten() - b_returns[mb]) ** 2).mean()
                loss = pg_loss - 0.01 * entropy.mean() + 0.5 * v_loss
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimizer.step()
    print(f"loss={loss.item():.3f} seconds={time.perf_counter() - start_time:.3f}")
