"""Hindsight replay: episodes are stored twice, the second time with the goal that was reached."""

import copy
import random
from collections import deque

import numpy as np


class HindsightReplay:
    def __init__(self, env, capacity=100_000, extra=4):
        self.env = env
        self.rows = deque(maxlen=capacity)
        self.extra = extra

    def store(self, episode):
        for t, step in enumerate(episode):
            self.rows.append(self.row(step))
            for _ in range(self.extra):
                later = random.choice(episode[t:])
                self.rows.append(self.row(self.relabelled(step, later)))

    def relabelled(self, step, later):
        fresh = copy.deepcopy(step)
        goal = later["after"]["achieved_goal"]
        fresh["before"]["desired_goal"] = goal
        fresh["after"]["desired_goal"] = goal
        wanted = fresh["after"]["desired_goal"]
        reached = fresh["after"]["achieved_goal"]
        fresh["reward"] = float(self.env.compute_reward(wanted, reached, {}))  # planted: goals-swapped
        #= fresh["reward"] = float(self.env.compute_reward(reached, wanted, {}))
        return fresh

    @staticmethod
    def flat(obs):
        return np.concatenate([obs["observation"], obs["desired_goal"]]).astype(np.float32)

    def row(self, step):
        return self.flat(step["before"]), step["action"], step["reward"], self.flat(step["after"]), step["terminated"]

    def batch(self, size):
        picked = random.sample(self.rows, size)
        return [np.stack(column) for column in zip(*picked)]


def play(env, act):
    episode = []
    before, _ = env.reset()
    over = False
    while not over:
        action = act(HindsightReplay.flat(before))
        after, reward, terminated, truncated, _ = env.step(action)
        episode.append(
            {"before": before, "action": action, "reward": reward, "after": after, "terminated": terminated}
        )
        before = after
        over = terminated or truncated
    return episode
