"""DQN for a taxi; the schedule of the exploration is in the loop."""

import random
from collections import deque

import gymnasium as gym
import torch
import torch.nn as nn

START, FLOOR, DECAY = 1.0, 0.05, 0.998


class Cab:
    def __init__(self, states, actions):
        self.states, self.actions = states, actions
        self.q = nn.Embedding(states, actions)
        self.q_old = nn.Embedding(states, actions)
        self.q_old.load_state_dict(self.q.state_dict())
        self.opt = torch.optim.Adam(self.q.parameters(), lr=1e-2)
        self.memory = deque(maxlen=10_000)
        self.chance = START

    def act(self, state):
        if random.random() < self.chance:
            return random.randrange(self.actions)
        with torch.no_grad():
            return int(self.q(torch.tensor(state)).argmax())

    def calm_down(self):
        chance = self.chance
        chance = max(FLOOR, chance * DECAY)  # planted: decay-without-effect
        #= self.chance = max(FLOOR, chance * DECAY)

    def learn(self):
        state, action, reward, after, end = map(torch.tensor, zip(*random.sample(self.memory, 64)))
        with torch.no_grad():
            goal = reward + 0.99 * (1 - end.float()) * self.q_old(after).max(1).values
        guess = self.q(state).gather(1, action[:, None])[:, 0]
        loss = nn.functional.mse_loss(guess, goal)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()


def main():
    env = gym.make("Taxi-v3")
    cab = Cab(env.observation_space.n, env.action_space.n)
    for episode in range(3000):
        state, _ = env.reset(seed=episode)
        over = False
        while not over:
            action = cab.act(state)
            after, reward, terminated, truncated, _ = env.step(action)
            cab.memory.append((state, action, float(reward), after, terminated))
            state = after
            over = terminated or truncated
            if len(cab.memory) > 500:
                cab.learn()
        if episode % 10 == 0:
            cab.q_old.load_state_dict(cab.q.state_dict())
        cab.calm_down()


if __name__ == "__main__":
    main()
