"""PPO of Stable-Baselines3, scored by an own loop."""

import gymnasium as gym
import numpy as np
from stable_baselines3 import PPO


def returns(model_file, episodes, seed):
    model = PPO.load(model_file)
    env = gym.make("BipedalWalker-v3")
    found = []
    for number in range(episodes):
        seen, _ = env.reset(seed=seed + number)
        total, over = 0.0, False
        while not over:
            seen, reward, terminated, truncated, _ = env.step(model.predict(seen, deterministic=True)[0])
            total += reward
            over = terminated or truncated
        found.append(total)
    return np.array(found)


def main():
    world = gym.make("BipedalWalker-v3")
    learner = PPO("MlpPolicy", world, n_steps=2048, gae_lambda=0.95, seed=1)
    learner.learn(1_000_000)
    learner.save("walker")
    seen, _ = world.reset(seed=99)
    total = 0.0
    for _ in range(1600):
        move, _ = learner.predict(seen)  # planted: predict-samples-by-default
        # = move, _ = learner.predict(seen, deterministic=True)
        seen, reward, terminated, truncated, _ = world.step(move)
        total += reward
        if terminated or truncated:
            break
    print(total, returns("walker", 20, seed=500).mean())


if __name__ == "__main__":
    main()
