"""PPO in two files, with environments in processes of their own: what they take, the learner waits."""

import json
import os
import sys
import warnings

import gymnasium as gym
import numpy as np
import torch
from learner import BOOKS, Learner, Pilot, burden, reset_books, turn


class Raft(gym.Env):
    def __init__(self):
        self.observation_space = gym.spaces.Box(-10, 10, (3,), np.float32)
        self.action_space = gym.spaces.Box(-10, 10, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x, self.n = self.np_random.normal(size=3), 0
        return np.clip(self.x, -10, 10).astype(np.float32), {}

    def step(self, action):
        burden("waiting")
        self.n += 1
        self.x = 0.95 * self.x + 0.1 * self.np_random.normal(size=3)
        self.x[0] += 0.1 * float(action[0])
        return np.clip(self.x, -10, 10).astype(np.float32), -float(self.x[0] ** 2), False, self.n >= 100, {}


def row(*fields):
    burden("buffer write")
    return fields


def report(number, loss):
    burden("logging")
    print(f"rollout {number}: loss {loss:.3f}", flush=True)


def main(rollouts, horizon=64):
    torch.manual_seed(4)
    torch.set_num_threads(1)
    rafts = gym.vector.AsyncVectorEnv([Raft, Raft], autoreset_mode=gym.vector.AutoresetMode.SAME_STEP)
    pilot = Pilot(3, 1).eval()
    learner = Learner(pilot)
    obs = torch.from_numpy(rafts.reset(seed=4)[0])
    begun = reset_books()
    for number in range(rollouts):
        rows = []
        for _ in range(horizon):
            turn("acting")
            with torch.inference_mode():
                dist, value = pilot(obs)
                act = dist.sample()
                logp = dist.log_prob(act).sum(-1)
            turn()
            turn("copies")
            doing = act.numpy()
            turn()
            turn("waiting")
            BOOKS["calls"]["waiting"] = BOOKS["calls"].get("waiting", 0) + 1
            after, reward, gone, cut, _ = rafts.step(doing)
            turn()
            turn("copies")
            reward, over = torch.from_numpy(reward).float(), torch.from_numpy(gone | cut).float()
            after = torch.from_numpy(after).clone()
            turn()
            turn("buffer write")
            rows.append(row(obs, act, logp, value, reward, over))
            turn()
            obs = after
        turn("advantages")
        data = learner.weigh(rows, obs)
        turn()
        loss = learner.improve(data)
        if number % 5 == 0:
            turn("logging")
            report(number, loss)
            turn()
    ended = turn("other")
    rafts.close()
    return ended - begun


if __name__ == "__main__":
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    seconds = main(int(sys.argv[1]) if len(sys.argv) > 1 else 25)
    if "TRUTH" in os.environ:
        with open(os.environ["TRUTH"], "w") as file:
            json.dump({"seconds": seconds, **BOOKS}, file)
