"""A policy for HalfCheetah is loaded with its statistics, and played."""

import gymnasium as gym
from stable_baselines3 import PPO
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize


def make():
    return gym.make("HalfCheetah-v5")


if __name__ == "__main__":
    venv = VecNormalize.load("cheetah/statistics.pkl", DummyVecEnv([make]))  # planted: loaded-statistics-keep-moving
    # = venv = VecNormalize.load("cheetah/statistics.pkl", DummyVecEnv([make]))
    # = venv.training = False
    venv.norm_reward = False
    model = PPO.load("cheetah/model", env=venv)
    mean, deviation = evaluate_policy(model, venv, n_eval_episodes=20, deterministic=True)
    print(f"{mean:.1f} ± {deviation:.1f}")
