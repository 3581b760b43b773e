"""Shows a trained lander."""

import gymnasium as gym
from stable_baselines3 import DQN


def show(path):
    world = gym.make("LunarLander-v3", render_mode="human")
    pilot = DQN("MlpPolicy", world)
    pilot.load(path)  # planted: loaded-model-dropped
    # = pilot = DQN.load(path)
    seen, _ = world.reset()
    over = False
    while not over:
        act, _ = pilot.predict(seen, deterministic=True)
        seen, _, crashed, late, _ = world.step(act)
        over = crashed or late
