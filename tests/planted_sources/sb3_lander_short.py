"""DQN of Stable-Baselines3 lands on the moon, in a short run."""

import gymnasium as gym
from stable_baselines3 import DQN
from stable_baselines3.common.monitor import Monitor

STEPS = 60_000

if __name__ == "__main__":
    model = DQN(
        "MlpPolicy",
        Monitor(gym.make("LunarLander-v3")),
        learning_rate=6e-4,
        buffer_size=50_000,
        target_update_interval=100_000,  # planted: target-interval-beyond-run
        # = target_update_interval=500,
        exploration_fraction=0.2,
        seed=4,
    )
    model.learn(STEPS)
    model.save("lander")
