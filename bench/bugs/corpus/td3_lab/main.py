"""Train TD3 and report what the greedy policy earns.

    python main.py --env ShaftDrone-v0 --max-steps 3000 --seed 3
"""
import argparse
import random

import gymnasium as gym
import numpy as np
import torch

import drone  # noqa: F401  (registers ShaftDrone-v0)
from td3 import ReplayBuffer, TD3Agent


def evaluate(agent, env_id, seed, episodes=10):
    env = gym.make(env_id)
    returns = []
    for i in range(episodes):
        state, _ = env.reset(seed=seed + 1000 + i)
        total, finished = 0.0, False
        while not finished:
            state, reward, terminated, truncated, _ = env.step(agent.select_action(state))
            total += reward
            finished = terminated or truncated
        returns.append(total)
    env.close()
    return float(np.mean(returns))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--env", default="ShaftDrone-v0")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max-steps", type=int, default=2400)
    parser.add_argument("--start-steps", type=int, default=600, help="steps of uniformly random actions")
    parser.add_argument("--train-every", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--eval-freq", type=int, default=1200)
    args = parser.parse_args()

    torch.set_num_threads(1)
    random.seed(args.seed)
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)

    env = gym.make(args.env)
    env.action_space.seed(args.seed)
    low, high = env.action_space.low, env.action_space.high
    state_dim, action_dim = env.observation_space.shape[0], env.action_space.shape[0]

    agent = TD3Agent(state_dim, action_dim, low, high, seed=args.seed)
    buffer = ReplayBuffer(state_dim, action_dim, seed=args.seed)

    state, _ = env.reset(seed=args.seed)
    episode_return, episode = 0.0, 0
    for t in range(args.max_steps):
        if t < args.start_steps:
            action = env.action_space.sample()
        else:
            action = agent.explore(state)

        next_state, reward, terminated, truncated, _ = env.step(action)
        buffer.add(state, action, next_state, reward, float(terminated))
        episode_return += reward
        state = next_state

        if terminated or truncated:
            episode += 1
            if episode % 20 == 0:
                print(f"step {t + 1:6d}  episode {episode:4d}  return {episode_return:8.2f}")
            state, _ = env.reset()
            episode_return = 0.0

        if t >= args.start_steps and t % args.train_every == 0:
            agent.train(buffer, args.batch_size)

        if (t + 1) % args.eval_freq == 0:
            print(f"step {t + 1:6d}  greedy return {evaluate(agent, args.env, args.seed):8.3f}")

    agent.save("td3_final.pt")
    env.close()
    print(f"final greedy return: {evaluate(agent, args.env, args.seed, episodes=20):.3f}")


if __name__ == "__main__":
    main()
