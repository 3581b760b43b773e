"""PPO for the hopper, sixteen at a time, evaluated now and then."""

import argparse

import gymnasium as gym
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import EvalCallback
from stable_baselines3.common.env_util import make_vec_env


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=2_000_000)
    parser.add_argument("--lanes", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def main():
    opt = options()
    env = make_vec_env("Hopper-v5", n_envs=opt.lanes, seed=opt.seed)
    test = gym.make("Hopper-v5")
    model = PPO("MlpPolicy", env, n_steps=256, batch_size=512, seed=opt.seed, verbose=1)
    watch = EvalCallback(test, eval_freq=max(50_000 // opt.lanes, 1), deterministic=True)
    model.learn(total_timesteps=opt.steps // opt.lanes, callback=watch)  # planted: budget-divided-by-environments
    # = model.learn(total_timesteps=opt.steps, callback=watch)
    model.save("hopper")


if __name__ == "__main__":
    main()
