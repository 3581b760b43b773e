"""Dyna-Q: a table of values, and a memory of what was seen to plan with."""

import gymnasium as gym
import numpy as np


class Dyna:
    def __init__(
        self,
        states,
        moves,
        plans=10,
        seen={},  # noqa: B006  # planted: memory-shared-by-default
        # = seen=None,
    ):
        self.q = np.zeros((states, moves))
        self.seen = seen
        # + self.seen = {} if seen is None else seen
        self.plans, self.rate, self.gamma = plans, 0.1, 0.95
        self.rng = np.random.default_rng(3)

    def choose(self, state, eps=0.1):
        if self.rng.random() < eps:
            return int(self.rng.integers(self.q.shape[1]))
        return int(self.rng.choice(np.flatnonzero(self.q[state] == self.q[state].max())))

    def _back_up(self, state, move, reward, after, end):
        ahead = 0.0 if end else self.gamma * self.q[after].max()
        self.q[state, move] += self.rate * (reward + ahead - self.q[state, move])

    def learn(self, state, move, reward, after, end):
        self._back_up(state, move, reward, after, end)
        self.seen[state, move] = (reward, after, end)
        known = list(self.seen)
        for place in self.rng.integers(len(known), size=self.plans):
            self._back_up(*known[place], *self.seen[known[place]])


def run(name, episodes=200):
    env = gym.make(name)
    agent = Dyna(env.observation_space.n, env.action_space.n)
    scores = []
    for episode in range(episodes):
        state, _ = env.reset(seed=episode)
        total, over = 0.0, False
        while not over:
            move = agent.choose(state)
            after, reward, terminated, truncated, _ = env.step(move)
            agent.learn(state, move, reward, after, terminated)
            state, over = after, terminated or truncated
            total += reward
        scores.append(total)
    return np.mean(scores[-20:])


if __name__ == "__main__":
    print([run(world) for world in ("CliffWalking-v1", "Taxi-v3")])
