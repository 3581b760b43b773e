"""A house with a thermostat as an environment, and PPO of Stable-Baselines3."""

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from stable_baselines3 import PPO


class House(gym.Env):
    def __init__(self, hours=96):
        self.hours = hours
        self.observation_space = spaces.Box(-40.0, 60.0, (3,), np.float32)
        self.action_space = spaces.Discrete(3)

    def _seen(self):
        return np.array([self.inside, self.outside, self.hour % 24], dtype=np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.hour = 0
        self.inside = 18.0
        self.outside = np.random.uniform(-5.0, 15.0)  # planted: global-generator-in-environment
        # = self.outside = self.np_random.uniform(-5.0, 15.0)
        return self._seen(), {}

    def step(self, action):
        self.hour += 1
        self.outside += 0.5 * np.sin(self.hour / 24 * 2 * np.pi)
        self.inside += 0.1 * (self.outside - self.inside) + (0.0, 1.0, 2.5)[int(action)]
        reward = -abs(self.inside - 21.0) - 0.2 * float(action)
        return self._seen(), float(reward), False, self.hour >= self.hours, {}


def main():
    model = PPO("MlpPolicy", House(), gamma=0.95, n_steps=960, batch_size=96)
    model.learn(200_000)
    house = House()
    seen, _ = house.reset(seed=0)
    total, over = 0.0, False
    while not over:
        move, _ = model.predict(seen, deterministic=True)
        seen, reward, terminated, truncated, _ = house.step(move)
        total += reward
        over = terminated or truncated
    print(total)


if __name__ == "__main__":
    main()
