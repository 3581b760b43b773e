"""Q-learning of goals, with goals that are exchanged in hindsight."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import torch
from torch import nn

FAULTS = {
    "reward-not-computed-anew": "BUF352",
    "reward-of-the-old-goal": "BUF352",
    "old-goal-in-the-next-observation": "BUF355",
    "targets-clamped-from-below": "VAL373",
    "acts-on-the-achieved-goal": "BUF358",
}

GAMMA, TAU = 0.95, 0.05
MOVES = 0.2 * np.array([[1, 0], [-1, 0], [0, 1], [0, -1], [1, 1], [-1, -1]])


class Arm(gym.Env):
    """Two joints; the tip must come near the goal. The reward is 0 there, and -1 elsewhere."""

    def __init__(self) -> None:
        self.action_space = gym.spaces.Discrete(len(MOVES))
        self.observation_space = gym.spaces.Dict(
            {
                "observation": gym.spaces.Box(-1.0, 1.0, (4,), np.float32),
                "achieved_goal": gym.spaces.Box(-2.0, 2.0, (2,), np.float32),
                "desired_goal": gym.spaces.Box(-2.0, 2.0, (2,), np.float32),
            }
        )

    @staticmethod
    def tip(joints):
        first, second = joints[0], joints[0] + joints[1]
        return np.array([np.cos(first) + np.cos(second), np.sin(first) + np.sin(second)], np.float32)

    def compute_reward(self, achieved, desired) -> float:
        return 0.0 if np.linalg.norm(achieved - desired) < 0.35 else -1.0

    def _seen(self):
        one, two = self.joints
        return {
            "observation": np.array([np.cos(one), np.sin(one), np.cos(two), np.sin(two)], np.float32),
            "achieved_goal": self.tip(self.joints),
            "desired_goal": self.goal.copy(),
        }

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t, self.joints = 0, self.np_random.uniform(-np.pi, np.pi, 2)
        self.goal = self.tip(self.np_random.uniform(-np.pi, np.pi, 2))
        return self._seen(), {}

    def step(self, action):
        self.t += 1
        self.joints = self.joints + MOVES[action]
        seen = self._seen()
        reward = self.compute_reward(seen["achieved_goal"], seen["desired_goal"])
        return seen, reward, reward == 0.0, self.t >= 15, {}


def program(fault: str = "") -> None:
    torch.manual_seed(1)
    draw = np.random.default_rng(1)
    env = Arm()
    net, target = (nn.Sequential(nn.Linear(6, 48), nn.ReLU(), nn.Linear(48, len(MOVES))) for _ in range(2))
    target.load_state_dict(net.state_dict())
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    rows: list = []

    def put(step, goal, reward, end) -> None:
        kept = step[2]["desired_goal"] if fault == "old-goal-in-the-next-observation" else goal
        rows.append((np.append(step[0]["observation"], goal), np.append(step[2]["observation"], kept),
                     step[1], reward, end))  # fmt: skip

    for number in range(60):
        obs, _ = env.reset(seed=1 if number == 0 else None)
        episode, over = [], False
        while not over:
            if draw.random() < max(0.2, 1.0 - number / 40):
                action = int(draw.integers(len(MOVES)))
            else:
                with torch.no_grad():
                    meant = "achieved_goal" if fault == "acts-on-the-achieved-goal" else "desired_goal"
                    action = int(net(torch.from_numpy(np.append(obs["observation"], obs[meant]))).argmax())
            after, reward, terminated, truncated, _ = env.step(action)
            episode.append((obs, action, after, reward, terminated))
            obs, over = after, terminated or truncated
        for t, step in enumerate(episode):
            put(step, step[0]["desired_goal"], step[3], float(step[4]))
            for _ in range(4):
                goal = episode[int(draw.integers(t, len(episode)))][2]["achieved_goal"]
                reward = env.compute_reward(step[2]["achieved_goal"], goal)
                if fault == "reward-not-computed-anew":
                    reward = step[3]
                elif fault == "reward-of-the-old-goal":
                    reward = env.compute_reward(step[2]["achieved_goal"], step[2]["desired_goal"])
                put(step, goal, reward, float(reward == 0.0))
        if len(rows) < 500:
            continue
        for _ in range(10):
            batch = [np.array(each) for each in zip(*(rows[i] for i in draw.integers(0, len(rows), 128)), strict=True)]
            seen, later, taken, paid, end = (torch.from_numpy(each) for each in batch)
            chosen = net(seen).gather(1, taken[:, None]).squeeze(1)
            with torch.no_grad():
                best = target(later).max(1).values
                goals = (paid.float() + GAMMA * (1 - end.float()) * best).clamp(-1 / (1 - GAMMA), 0)
                if fault == "targets-clamped-from-below":
                    goals = goals.clamp(0, 1 / (1 - GAMMA))
            loss = nn.functional.huber_loss(chosen, goals)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with torch.no_grad():
                for one, other in zip(net.parameters(), target.parameters(), strict=True):
                    other.lerp_(one, TAU)
