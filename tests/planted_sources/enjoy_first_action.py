"""Watch a trained agent play."""

import argparse
import random

import gymnasium as gym
import torch
from torch import nn


class Head(nn.Module):
    def __init__(self, inputs, actions):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(inputs, 64), nn.ReLU(), nn.Linear(64, actions))

    def forward(self, x):
        return self.layers(x)


class Player:
    def __init__(self, head, chance):
        self.head = head.eval()
        self.chance = chance

    @torch.no_grad()
    def move(self, obs, space):
        if random.random() < self.chance:
            return space.sample()
        row = torch.as_tensor(obs, dtype=torch.float32).unsqueeze(0)
        answer = self.head(row)
        return int(answer.argmax(dim=0)[0])  # planted: best-of-the-batch
        #= return int(answer.argmax(dim=1)[0])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("weights")
    parser.add_argument("--episodes", type=int, default=5)
    parser.add_argument("--chance", type=float, default=0.01)
    options = parser.parse_args()
    env = gym.make("CartPole-v1", render_mode="human")
    head = Head(4, 2)
    head.load_state_dict(torch.load(options.weights, map_location="cpu", weights_only=True))
    player = Player(head, options.chance)
    for episode in range(options.episodes):
        obs, _ = env.reset(seed=episode)
        total, over = 0.0, False
        while not over:
            obs, reward, terminated, truncated, _ = env.step(player.move(obs, env.action_space))
            total += reward
            over = terminated or truncated
        print(episode, total)


if __name__ == "__main__":
    main()
