import argparse
from types import SimpleNamespace

import numpy as np
import torch

from agent import RainbowAgent
from corridor import KeyDoorCorridor

DEFAULTS = SimpleNamespace(
    steps=3200, learn_start=300, learn_every=4,
    gamma=0.97, n_step=3, lr=3e-3, batch_size=32, hidden=48, max_norm=10.0,
    atoms=31, v_min=-1.0, v_max=1.5, noisy_sigma=0.5,
    memory_size=4096, alpha=0.6, priority_eps=1e-3, beta0=0.4, beta_updates=500,
    sync_every=50,
)


def greedy_return(agent, episodes, seed):
    env = KeyDoorCorridor()
    agent.online.eval()
    totals = []
    for k in range(episodes):
        obs, _ = env.reset(seed=seed + k)
        total, over = 0.0, False
        while not over:
            obs, reward, terminated, truncated, _ = env.step(agent.act(obs))
            total += reward
            over = terminated or truncated
        totals.append(total)
    agent.online.train()
    return float(np.mean(totals))


def run(seed, cfg):
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    env = KeyDoorCorridor()
    agent = RainbowAgent(env.observation_space.shape[0], int(env.action_space.n), cfg, rng)

    history, losses = [], []
    obs, _ = env.reset(seed=seed)
    total = 0.0
    for step in range(1, cfg.steps + 1):
        agent.online.resample_noise()
        action = agent.act(obs)
        next_obs, reward, terminated, truncated, _ = env.step(action)
        agent.remember(obs, action, reward, next_obs, terminated, truncated)
        total += reward
        obs = next_obs
        if terminated or truncated:
            history.append(total)
            obs, _ = env.reset()
            total = 0.0
        if step >= cfg.learn_start and step % cfg.learn_every == 0:
            losses.append(agent.learn())
        if step % 600 == 0:
            print(f"{step:6d} | episodes {len(history):4d} | return {np.mean(history[-20:]):+.3f} "
                  f"| loss {np.mean(losses[-100:]):.3f} | beta {agent.beta():.2f}")
    print(f"mean test return {greedy_return(agent, 20, seed=90000):.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Rainbow (dueling, C51, PER, n-step, noisy) in a key-door corridor")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=DEFAULTS.steps)
    parser.add_argument("--noisy-sigma", type=float, default=DEFAULTS.noisy_sigma)
    opts = parser.parse_args()
    DEFAULTS.steps, DEFAULTS.noisy_sigma = opts.steps, opts.noisy_sigma
    run(opts.seed, DEFAULTS)
