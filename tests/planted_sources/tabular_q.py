"""Q-learning with a table, for a frozen lake."""

import gymnasium as gym
import numpy as np


class Table:
    def __init__(self, states, actions, alpha=0.1, gamma=0.97):
        self.q = np.zeros((states, actions))
        self.alpha, self.gamma = alpha, gamma
        self.explore = 1.0
        self.rng = np.random.default_rng(0)

    def act(self, state):
        if self.rng.random() < self.explore:  # planted: greedy-with-epsilon
        #= if self.rng.random() >= self.explore:
            return int(np.argmax(self.q[state]))
        return int(self.rng.integers(self.q.shape[1]))

    def learn(self, state, action, reward, after, terminal):
        goal = reward if terminal else reward + self.gamma * self.q[after].max()
        self.q[state, action] += self.alpha * (goal - self.q[state, action])

    def calm(self):
        self.explore = max(0.02, self.explore * 0.999)


def main(episodes=5000):
    env = gym.make("FrozenLake-v1", is_slippery=True)
    table = Table(env.observation_space.n, env.action_space.n)
    wins = []
    for episode in range(episodes):
        state, _ = env.reset(seed=episode)
        over = False
        while not over:
            action = table.act(state)
            after, reward, terminated, truncated, _ = env.step(action)
            table.learn(state, action, reward, after, terminated)
            state = after
            over = terminated or truncated
        wins.append(reward)
        table.calm()
    print(np.mean(wins[-500:]))


if __name__ == "__main__":
    main()
