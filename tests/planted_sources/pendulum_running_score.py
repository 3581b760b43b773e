"""A trained policy is played a few times, and the mean of its scores is printed."""

import gymnasium as gym
import torch


def play(policy, rounds=10):
    env = gym.make("Pendulum-v1")
    scores, score = [], 0.0
    for number in range(rounds):
        obs, _ = env.reset(seed=1000 + number)
        # + score = 0.0
        over = False
        while not over:
            with torch.no_grad():
                action = policy(torch.as_tensor(obs))
            obs, reward, ended, cut, _ = env.step(action.numpy())
            score += float(reward)
            over = ended or cut
        scores.append(score)  # planted: score-never-cleared
        # = scores.append(score)
    print(f"mean score {sum(scores) / len(scores):.1f}")
    return scores
