"""The cross-entropy method with a linear policy."""

import gymnasium as gym
import numpy as np


class Scaled(gym.RewardWrapper):
    def __init__(self, env, factor):
        super().__init__(env)
        self.factor = factor

    def reward(self, reward):
        return self.factor * reward


def build(name, factor):
    env = gym.make(name)
    return Scaled(env.env, factor)  # planted: time-limit-cut-off
    # = return Scaled(env, factor)


def score(env, weights, shape):
    matrix = weights.reshape(shape)
    seen, _ = env.reset(seed=int(abs(weights[0]) * 1e6))
    total, over = 0.0, False
    while not over:
        move = np.tanh(matrix @ np.append(seen, 1.0)) * env.action_space.high
        seen, reward, terminated, truncated, _ = env.step(move.astype(np.float32))
        total += reward
        over = terminated or truncated
    return total


def search(rounds=100, crowd=50, best=10, seed=3):
    rng = np.random.default_rng(seed)
    env = build("MountainCarContinuous-v0", 0.01)
    shape = (env.action_space.shape[0], env.observation_space.shape[0] + 1)
    mean, spread = np.zeros(np.prod(shape)), np.ones(np.prod(shape))
    for number in range(rounds):
        tried = mean + spread * rng.standard_normal((crowd, mean.size))
        scores = np.array([score(env, each, shape) for each in tried])
        chosen = tried[np.argsort(scores)[-best:]]
        mean, spread = chosen.mean(0), chosen.std(0) + 0.02
        print(number, scores.mean(), scores.max())


if __name__ == "__main__":
    search()
