import numpy as np
import torch

from checkpoints import load_latest
from model import ActorCritic
from trainer import Config, build_env
from wrappers import RunningStats


def evaluate(cfg: Config, episodes: int, seed: int) -> list[float]:
    """Plays the newest checkpoint without exploration; returns the undiscounted, unscaled returns."""
    state = load_latest(cfg.folder)
    net = ActorCritic(3, 1)
    net.load_state_dict(state["net"])
    net.eval()
    stats = RunningStats((3,))
    stats.restore(state["obs_stats"])
    env = build_env(cfg, stats, learn=False)
    scores = []
    for k in range(episodes):
        obs, _ = env.reset(seed=seed + k)
        over = False
        while not over:
            action, _ = net.act(torch.from_numpy(obs), deterministic=True)
            obs, _, terminated, truncated, info = env.step(action.numpy())
            over = terminated or truncated
        scores.append(info["episode"]["return"])
    return scores
