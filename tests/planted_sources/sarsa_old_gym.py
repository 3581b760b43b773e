"""Sarsa on a lake, brought over from an older Gym."""

import gymnasium
import numpy as np


class Sarsa:
    def __init__(self, states, moves, rate=0.1, gamma=0.99, eps=0.1):
        self.q = np.zeros((states, moves))
        self.rate, self.gamma, self.eps = rate, gamma, eps
        self.rng = np.random.default_rng(0)

    def choose(self, state):
        if self.rng.random() < self.eps:
            return int(self.rng.integers(self.q.shape[1]))
        return int(self.q[state].argmax())

    def learn(self, state, move, reward, after, following, over):
        ahead = 0.0 if over else self.gamma * self.q[after, following]
        self.q[state, move] += self.rate * (reward + ahead - self.q[state, move])


def main(episodes=20_000):
    lake = gymnasium.make("FrozenLake-v1", is_slippery=True)
    agent = Sarsa(lake.observation_space.n, lake.action_space.n)
    won = 0.0
    for _ in range(episodes):
        state, _ = lake.reset()
        move = agent.choose(state)
        over = False
        while not over:
            after, reward, over, _ = lake.step(move)  # planted: step-has-other-parts
            # = after, reward, over, cut, _ = lake.step(move)
            following = agent.choose(after)
            agent.learn(state, move, reward, after, following, over)
            state, move = after, following
            won += reward
            # + if cut:
            # +     break
    print(won / episodes)


if __name__ == "__main__":
    main()
