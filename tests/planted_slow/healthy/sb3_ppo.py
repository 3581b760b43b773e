"""PPO of Stable-Baselines3 on CartPole with eight environments. Needs the bench extra."""

import time

from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env

model = PPO("MlpPolicy", make_vec_env("CartPole-v1", n_envs=8, seed=0), n_steps=256, batch_size=256, seed=0, device="cpu")
began = time.perf_counter()
model.learn(24_576)
print(f"{model.num_timesteps} steps, seconds={time.perf_counter() - began:.3f}")
