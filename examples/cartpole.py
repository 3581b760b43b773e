"""A small actor-critic on CartPole, watched. `python examples/cartpole.py` trains it and prints the diagnosis."""

import gymnasium as gym
import torch
from torch import nn
from torch.distributions import Categorical

import rldebug

GAMMA = 0.98


def play(env, policy):
    """One episode, time-major, and the observation it ended on."""
    steps, (obs, _), over = [], env.reset(), False
    while not over:
        seen = torch.from_numpy(obs)
        with torch.no_grad():
            action = Categorical(logits=policy(seen)).sample()
        obs, reward, terminated, truncated, _ = env.step(action.item())
        steps.append((seen, action, torch.tensor(reward), torch.tensor(terminated), torch.tensor(truncated)))
        over = terminated or truncated
    return [torch.stack(each) for each in zip(*steps, strict=True)], torch.from_numpy(obs)


def discounted(reward, tail):
    """The return from each step on; `tail` is what comes after the last one."""
    returns = torch.zeros(len(reward))
    for t in reversed(range(len(reward))):
        returns[t] = tail = reward[t] + GAMMA * tail
    return returns


def main(episodes=200, seed=0):
    torch.manual_seed(seed)
    env = gym.make("CartPole-v1")
    env.reset(seed=seed)
    policy = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 2))
    critic = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 1), nn.Flatten(0))
    optimizer = torch.optim.Adam([*policy.parameters(), *critic.parameters()], lr=5e-3)

    with rldebug.watch(policy=policy, critic=critic, optimizer=optimizer, env=env, gamma=GAMMA, run="cartpole") as dbg:
        for _ in range(episodes):
            (obs, action, reward, terminated, truncated), end = play(env, policy)
            dist, value = Categorical(logits=policy(obs)), critic(obs)
            logp = dist.log_prob(action)
            target = discounted(reward, 0.0 if terminated[-1] else critic(end[None]).item())  # cut off: bootstrap
            advantage = target - value.detach()
            loss = {"policy": -(logp * advantage).mean(), "value": (value - target).square().mean()}
            dbg.rollout(obs=obs, action=action, reward=reward, terminated=terminated, truncated=truncated)
            dbg.update(loss=loss, logp_new=logp, value=value, target=target, advantage=advantage, dist=dist)
            optimizer.zero_grad()
            (loss["policy"] + 0.01 * loss["value"]).backward()
            optimizer.step()
    return dbg


if __name__ == "__main__":
    main()
