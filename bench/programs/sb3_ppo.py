"""Stable-Baselines3's PPO on CartPole, four environments, a rollout of 512 steps. python sb3_ppo.py STEPS"""

import sys
import time

import torch
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env

if __name__ == "__main__":
    torch.set_num_threads(1)
    model = PPO("MlpPolicy", make_vec_env("CartPole-v1", n_envs=4, seed=1), n_steps=512, seed=1, device="cpu")
    model.learn(int(sys.argv[1]))
    print(f"{model.num_timesteps} steps")
    print(f"cpu {time.process_time():.3f}", flush=True)
