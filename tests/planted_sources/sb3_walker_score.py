"""TD3 for the walker with normalised observations and rewards, and a score from the files on disk."""

import gymnasium as gym
import numpy as np
from stable_baselines3 import TD3
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize


def walker():
    return gym.make("Walker2d-v5")


def learn(steps=500_000):
    env = VecNormalize(DummyVecEnv([walker]), clip_obs=10.0)
    pilot = TD3("MlpPolicy", env, learning_starts=10_000, seed=1)
    pilot.learn(steps)
    pilot.save("walker")
    env.save("walker.pkl")


def score(episodes=10):
    env = VecNormalize.load("walker.pkl", DummyVecEnv([walker]))
    env.training = False
    pilot = TD3.load("walker")
    returns = []
    for _ in range(episodes):
        obs, over, total = env.reset(), [False], 0.0
        while not over[0]:
            action, _ = pilot.predict(obs, deterministic=True)
            obs, reward, over, _ = env.step(action)
            total += reward[0]  # planted: normalised-reward-summed
            # = total += env.get_original_reward()[0]
        returns.append(total)
    return np.mean(returns)


if __name__ == "__main__":
    learn()
    print(score())
