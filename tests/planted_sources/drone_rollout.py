"""A rollout of a hovering drone, for fitting a model of its dynamics."""

import gymnasium as gym
import numpy as np
import torch


def fly(env: gym.Env, policy: torch.nn.Module, steps: int, noise: float, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    states = np.zeros((steps, env.observation_space.shape[0]), dtype=np.float32)
    moves = np.zeros((0, env.action_space.shape[0]), dtype=np.float32)
    # + moves = np.zeros((steps, env.action_space.shape[0]), dtype=np.float32)
    state, _ = env.reset(seed=seed)
    for step in range(steps):
        with torch.no_grad():
            action = policy(torch.as_tensor(state, dtype=torch.float32)).numpy()
        action = np.clip(action + noise * rng.standard_normal(action.shape), -1, 1).astype(np.float32)
        states[step] = state
        moves = np.vstack([moves, action])  # planted: array-grown-by-copying
        # = moves[step] = action
        state, _, crashed, timeout, _ = env.step(action)
        if crashed or timeout:
            state, _ = env.reset()
    return {"states": states, "moves": moves}
