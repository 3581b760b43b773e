"""PPO on CartPole, in one file, as one writes it. Nothing in it knows of rldebug: `rldebug run examples/ppo.py`.

The tutorial breaks it in one line, and finds the line again.
"""

import argparse

import gymnasium as gym
import torch
from torch import nn
from torch.distributions import Categorical

ENVS, LENGTH, EPOCHS, BATCH, GAMMA, LAMBDA, CLIP = 8, 128, 4, 256, 0.99, 0.95, 0.2


def compute_gae(reward, value, done, last_value):
    """Advantages (T, N). `done[t]`: the episode ended with step t. The time limit of CartPole is not told apart."""
    advantage, running = torch.zeros_like(reward), torch.zeros(reward.shape[1])
    for t in reversed(range(len(reward))):
        alive = 1.0 - done[t]
        next_value = last_value if t == len(reward) - 1 else value[t + 1]
        delta = reward[t] + GAMMA * next_value * alive - value[t]
        running = delta + GAMMA * LAMBDA * alive * running
        advantage[t] = running
    return advantage


class Agent(nn.Module):
    def __init__(self, size, choices):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(size, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, choices))
        self.critic = nn.Sequential(nn.Linear(size, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))

    def forward(self, obs):
        return Categorical(logits=self.actor(obs)), self.critic(obs).squeeze(-1)


def main(args):
    torch.manual_seed(args.seed)
    same_step = {"autoreset_mode": gym.vector.AutoresetMode.SAME_STEP}
    envs = gym.make_vec(args.env, num_envs=ENVS, vectorization_mode="sync", vector_kwargs=same_step)
    size, choices = envs.single_observation_space.shape[0], int(envs.single_action_space.n)
    agent = Agent(size, choices)
    optimizer = torch.optim.Adam(agent.parameters(), lr=2.5e-4, eps=1e-5)
    obs = torch.as_tensor(envs.reset(seed=args.seed)[0])
    running, returns = torch.zeros(ENVS), []

    for iteration in range(args.steps // (ENVS * LENGTH)):
        seen = {name: torch.zeros(LENGTH, ENVS) for name in ("action", "logp", "value", "reward", "done")}
        observed = torch.zeros(LENGTH, ENVS, size)
        for t in range(LENGTH):
            with torch.no_grad():
                policy, value = agent(obs)
            action = policy.sample()
            observed[t], seen["action"][t], seen["logp"][t], seen["value"][t] = (
                obs,
                action,
                policy.log_prob(action),
                value,
            )
            after, reward, terminated, truncated, _ = envs.step(action.numpy())
            seen["reward"][t] = torch.as_tensor(reward)
            seen["done"][t] = torch.as_tensor(terminated | truncated)
            obs = torch.as_tensor(after)
            running += seen["reward"][t]
            returns += running[seen["done"][t] == 1].tolist()
            running *= 1 - seen["done"][t]

        with torch.no_grad():
            advantage = compute_gae(seen["reward"], seen["value"], seen["done"], agent(obs)[1])
        target = (advantage + seen["value"]).flatten()
        observations, actions, logps = observed.flatten(0, 1), seen["action"].flatten(), seen["logp"].flatten()
        for _ in range(EPOCHS):
            for rows in torch.randperm(ENVS * LENGTH).split(BATCH):
                policy, value = agent(observations[rows])
                ratio = (policy.log_prob(actions[rows]) - logps[rows]).exp()
                weight = advantage.flatten()[rows]
                weight = (weight - weight.mean()) / (weight.std() + 1e-8)
                clipped = ratio.clamp(1 - CLIP, 1 + CLIP)
                policy_loss = -torch.min(ratio * weight, clipped * weight).mean()
                value_loss = (value - target[rows]).square().mean()
                optimizer.zero_grad()
                (policy_loss + 0.5 * value_loss - 0.01 * policy.entropy().mean()).backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimizer.step()
        latest = returns[-40:]
        print(f"step {(iteration + 1) * ENVS * LENGTH:6d}   return {sum(latest) / max(len(latest), 1):6.1f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--env", default="CartPole-v1")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=20_000)
    main(parser.parse_args())
