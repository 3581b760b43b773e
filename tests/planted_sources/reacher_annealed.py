"""Policy gradient with an annealed learning rate, for Reacher."""

import gymnasium
import numpy as np
import torch
from torch import nn, optim
from torch.distributions import MultivariateNormal


def rollout(env, policy, spread, rng):
    states, actions, rewards = [], [], []
    state, _ = env.reset(seed=int(rng.integers(2**31)))
    finished = False
    while not finished:
        with torch.no_grad():
            mean = policy(torch.as_tensor(state, dtype=torch.float32))
            action = MultivariateNormal(mean, spread).sample()
        states.append(state)
        actions.append(action)
        state, reward, terminated, truncated, _ = env.step(action.numpy())
        rewards.append(float(reward))
        finished = terminated or truncated
    return states, actions, rewards


def main(iterations=2000, gamma=0.98):
    env = gymnasium.make("Reacher-v5")
    rng = np.random.default_rng(1)
    policy = nn.Sequential(nn.Linear(10, 64), nn.Tanh(), nn.Linear(64, 2))
    spread = torch.eye(2) * 0.2
    optimizer = optim.Adam(policy.parameters(), lr=1e-3)
    anneal = optim.lr_scheduler.LambdaLR(optimizer, lambda it: 1 - it / iterations)  # planted: schedule-never-moves
    # = anneal = optim.lr_scheduler.LambdaLR(optimizer, lambda it: 1 - it / iterations)
    for iteration in range(iterations):
        states, actions, rewards = rollout(env, policy, spread, rng)
        returns, ahead = np.zeros(len(rewards), np.float32), 0.0
        for step in reversed(range(len(rewards))):
            ahead = rewards[step] + gamma * ahead
            returns[step] = ahead
        weight = torch.from_numpy(returns)
        weight = (weight - weight.mean()) / (weight.std() + 1e-8)
        mean = policy(torch.as_tensor(np.array(states), dtype=torch.float32))
        loss = -(MultivariateNormal(mean, spread).log_prob(torch.stack(actions)) * weight).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        # + anneal.step()
        if iteration % 50 == 0:
            print(iteration, sum(rewards), anneal.get_last_lr())


main()
