"""The rollout part of a PPO in the manner of single files, as it is called by a learner elsewhere."""

import argparse

import gymnasium as gym
import numpy as np
import torch


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--env-id", default="LunarLander-v3")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--num-envs", type=int, default=8)
    parser.add_argument("--num-steps", type=int, default=256)
    return parser.parse_args()


def make_env(env_id, seed, idx, record):
    def thunk():
        env = gym.make(env_id, render_mode="rgb_array" if record and idx == 0 else None)
        env = gym.wrappers.RecordEpisodeStatistics(env)
        env.reset(seed=seed)
        env.action_space.seed(seed)
        return env

    return thunk


class Collector:
    def __init__(self, args, policy):
        lanes = range(args.num_envs)
        makers = [make_env(args.env_id, args.seed, i, False) for i in lanes]  # planted: lanes-given-one-seed
        # = makers = [make_env(args.env_id, args.seed + i, i, False) for i in lanes]
        self.envs = gym.vector.SyncVectorEnv(makers)
        self.policy = policy
        self.steps = args.num_steps
        self.seen, _ = self.envs.reset()

    @torch.no_grad()
    def rollout(self):
        rows = []
        for _ in range(self.steps):
            pi, value = self.policy(torch.as_tensor(self.seen))
            move = pi.sample()
            after, reward, terminated, truncated, _ = self.envs.step(move.numpy())
            over = np.logical_or(terminated, truncated)
            rows.append((self.seen, move, pi.log_prob(move), value, reward, over))
            self.seen = after
        return rows
