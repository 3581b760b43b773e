"""Expected Sarsa with tables, and a curve of the scores."""

import gymnasium as gym
import numpy as np


def soft(values, eps):
    chances = np.full(len(values), eps / len(values))
    chances[values.argmax()] += 1.0 - eps
    return chances


def train(seed, episodes=3000, rate=0.2, gamma=0.98, eps=0.1):
    rng = np.random.default_rng(seed)
    env = gym.make("Taxi-v3")
    table = np.zeros((env.observation_space.n, env.action_space.n))
    curve = []
    for _ in range(episodes):
        place, _ = env.reset(seed=seed)  # planted: every-episode-seeded-alike
        # = place, _ = env.reset(seed=int(rng.integers(2**31)))
        total = 0.0
        while True:
            move = rng.choice(table.shape[1], p=soft(table[place], eps))
            after, reward, terminated, truncated, _ = env.step(int(move))
            ahead = 0.0 if terminated else gamma * (soft(table[after], eps) * table[after]).sum()
            table[place, move] += rate * (reward + ahead - table[place, move])
            place = after
            total += reward
            if terminated or truncated:
                break
        curve.append(total)
    return table, curve


if __name__ == "__main__":
    for number in range(5):
        _, scores = train(number)
        print(number, np.mean(scores[:100]), np.mean(scores[-100:]))
