"""Films of a trained lander, one for each seed."""

import gymnasium as gym
import torch
from torch import nn


def load(file, observations=8, actions=4):
    net = nn.Sequential(nn.Linear(observations, 128), nn.ReLU(), nn.Linear(128, actions))
    net.load_state_dict(torch.load(file, weights_only=True, map_location="cpu"))
    return net.eval()


def film(net, seed, folder="films"):
    env = gym.make("LunarLander-v3", render_mode="rgb_array")
    env = gym.wrappers.Monitor(env, f"{folder}/{seed}", force=True)  # planted: name-removed-from-gymnasium
    # = env = gym.wrappers.RecordVideo(env, f"{folder}/{seed}")
    total, over = 0.0, False
    state, _ = env.reset(seed=seed)
    while not over:
        with torch.no_grad():
            action = int(net(torch.from_numpy(state)).argmax())
        state, reward, terminated, truncated, _ = env.step(action)
        total += float(reward)
        over = terminated or truncated
    env.close()
    return total


if __name__ == "__main__":
    policy = load("lander.pt")
    for number in range(5):
        print(number, film(policy, number))
