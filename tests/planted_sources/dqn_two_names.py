"""DQN on a small grid; the frozen network is kept beside the trained one."""

import random
from collections import deque

import gymnasium as gym
import numpy as np
import torch
from torch import nn


def q_model(inputs, actions):
    return nn.Sequential(nn.Linear(inputs, 64), nn.ReLU(), nn.Linear(64, actions))


class GridAgent:
    def __init__(self, inputs, actions, device):
        model = q_model(inputs, actions)
        self.actions = actions
        self.device = device
        self.live = model.to(device)
        self.frozen = model.to(device)  # planted: target-is-another-name
        #= self.frozen = q_model(inputs, actions).to(device)
        self.optim = torch.optim.Adam(self.live.parameters(), lr=1e-3)
        self.store = deque(maxlen=20_000)
        self.count = 0

    def choose(self, state, chance):
        if random.random() < chance:
            return random.randrange(self.actions)
        with torch.no_grad():
            answer = self.live(torch.as_tensor(state, dtype=torch.float32, device=self.device))
        return int(answer.argmax())

    def learn(self, size=64, discount=0.98):
        rows = random.sample(self.store, size)
        state, action, reward, after, over = (np.array(column) for column in zip(*rows))
        state = torch.as_tensor(state, dtype=torch.float32, device=self.device)
        after = torch.as_tensor(after, dtype=torch.float32, device=self.device)
        action = torch.as_tensor(action, device=self.device)
        reward = torch.as_tensor(reward, dtype=torch.float32, device=self.device)
        over = torch.as_tensor(over, dtype=torch.float32, device=self.device)
        with torch.no_grad():
            goal = reward + discount * (1 - over) * self.frozen(after).max(1).values
        guess = self.live(state).gather(1, action.unsqueeze(1)).squeeze(1)
        loss = nn.functional.smooth_l1_loss(guess, goal)
        self.optim.zero_grad()
        loss.backward()
        self.optim.step()
        self.count += 1
        if self.count % 500 == 0:
            self.frozen.load_state_dict(self.live.state_dict())


def main():
    env = gym.make("CartPole-v1")
    agent = GridAgent(env.observation_space.shape[0], env.action_space.n, "cpu")
    for episode in range(300):
        state, _ = env.reset(seed=episode)
        ended = False
        while not ended:
            action = agent.choose(state, max(0.05, 1.0 - episode / 150))
            after, reward, terminated, truncated, _ = env.step(action)
            agent.store.append((state, action, reward, after, terminated))
            state = after
            ended = terminated or truncated
            if len(agent.store) > 1000:
                agent.learn()


if __name__ == "__main__":
    main()
