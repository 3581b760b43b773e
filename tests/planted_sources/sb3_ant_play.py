"""Train SAC on Ant with normalised observations, then measure it."""

import gymnasium as gym
from stable_baselines3 import SAC
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize


def make():
    return Monitor(gym.make("Ant-v5"))


def train(steps=1_000_000, folder="runs/ant"):
    env = VecNormalize(DummyVecEnv([make]), norm_reward=False, clip_obs=10.0)
    model = SAC("MlpPolicy", env, learning_starts=10_000, verbose=1, seed=3)
    model.learn(steps)
    model.save(f"{folder}/sac")
    env.save(f"{folder}/statistics.pkl")


def measure(folder="runs/ant", episodes=20):
    venv = DummyVecEnv([make])
    normed = VecNormalize(venv, training=False, norm_reward=False)  # planted: evaluation-normalises-anew
    # = normed = VecNormalize.load(f"{folder}/statistics.pkl", venv)
    # = normed.training = False
    model = SAC.load(f"{folder}/sac")
    mean, spread = evaluate_policy(model, normed, n_eval_episodes=episodes)
    print(f"{mean:.1f} ± {spread:.1f}")


if __name__ == "__main__":
    train()
    measure()
