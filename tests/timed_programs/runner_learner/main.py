"""An actor-critic of objects in files of their own, put together from a dict: runner, memory, learner and judge."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent))

import gymnasium as gym
import numpy as np
import torch
from learner import Learner
from ledger import begin, belongs, cost, end
from memory import Memory
from models import Critic, Policy
from runner import Judge, Runner

CONFIG = {
    "seed": 6,
    "memory": {"capacity": 3000},
    "runner": {"per_round": 20, "random_rounds": 8},
    "learner": {"batch": 64, "updates": 12, "tau": 0.02, "lr": 7e-4},
    "judge_every": 15,
}


class Field(gym.Env):
    observation_space = gym.spaces.Box(-4, 4, (5,), np.float32)
    action_space = gym.spaces.Discrete(4)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        with belongs("reset"):
            cost("reset")
            self.s, self.n = self.np_random.uniform(-1, 1, 5), 0
            return self.s.astype(np.float32), {}

    def step(self, action):
        with belongs("simulator"):
            cost("simulator")
            self.n += 1
            self.s = np.clip(0.95 * self.s + 0.1 * self.np_random.normal(size=5), -4, 4)
            self.s[action] *= 0.8
            return self.s.astype(np.float32), -float(np.abs(self.s).mean()), False, self.n >= 40, {}


class Trainer:
    def __init__(self, config):
        torch.manual_seed(config["seed"])
        np.random.seed(config["seed"])
        self.config = config
        self.policy = Policy(5, 4)
        self.memory = Memory(**config["memory"])
        self.runner = Runner(Field(), self.policy, self.memory, config["runner"])
        self.learner = Learner(self.policy, [Critic(5, 4), Critic(5, 4)], config["learner"])
        self.judge = Judge(Field(), self.policy)

    def fit(self, rounds):
        for number in range(rounds):
            self.runner.run(explore=number < self.config["runner"]["random_rounds"])
            if number >= self.config["runner"]["random_rounds"]:
                self.learner.improve(self.memory)
            if number % self.config["judge_every"] == self.config["judge_every"] - 1:
                with belongs("evaluation"):
                    self.judge.play()


if __name__ == "__main__":
    trainer = Trainer(CONFIG)
    begin()
    trainer.fit(int(sys.argv[1]) if len(sys.argv) > 1 else 90)
    end()
