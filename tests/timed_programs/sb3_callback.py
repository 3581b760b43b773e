"""Stable-Baselines3's PPO with a callback of one's own. What the library takes by itself is not measured."""

import io
import json
import os
import sys
import time

import gymnasium as gym
import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor

seen = {"seconds": 0.0, "costs": {}, "parts": {}, "calls": {}}
state = {"first": None, "examining": False}
weights = torch.rand(64, 64), torch.rand(600, 600)


def toil(name):
    name = "evaluation" if state["examining"] else name
    seen["calls"][name] = seen["calls"].get(name, 0) + 1
    seconds = float(os.environ.get("COST_" + name.upper().replace(" ", "_"), 0)) / 1000
    if seconds > 0:
        t = time.perf_counter()
        if os.environ.get("COST_KIND") == "sleep":
            time.sleep(seconds)
        elif os.environ.get("COST_KIND") == "torch":
            with torch.no_grad():
                while time.perf_counter() < t + seconds:
                    torch.mm(weights[seconds > 0.01], weights[seconds > 0.01])
        else:
            while time.perf_counter() < t + seconds:
                pass
        seen["costs"][name] = seen["costs"].get(name, 0.0) + time.perf_counter() - t


class Seesaw(gym.Env):
    observation_space = gym.spaces.Box(-3, 3, (2,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        toil("reset")
        self.angle, self.n = self.np_random.uniform(-0.2, 0.2, 2), 0
        return self.angle.astype(np.float32), {}

    def step(self, action):
        if state["first"] is None:
            state["first"] = time.perf_counter()
        toil("simulator")
        self.n += 1
        self.angle[1] += 0.05 * (2 * action - 1) + 0.03 * self.angle[0]
        self.angle[0] = np.clip(self.angle[0] + self.angle[1], -3, 3)
        gone = bool(abs(self.angle[0]) > 1)
        return self.angle.astype(np.float32), 1.0, gone, self.n >= 100, {}


class Doubled(gym.ObservationWrapper):
    def observation(self, observation):
        toil("wrappers")
        return observation * np.float32(0.5)


class Thinking(BaseFeaturesExtractor):
    def __init__(self, space):
        super().__init__(space, 32)
        self.layer = torch.nn.Linear(2, 32)

    def forward(self, observations):
        toil("loss" if torch.is_grad_enabled() else "acting")
        return torch.relu(self.layer(observations))


class Grudging(torch.optim.Adam):
    def step(self, closure=None):
        toil("optimizer")
        return super().step(closure)


class Clay(io.BytesIO):
    def write(self, data):
        toil("saving")
        return super().write(data)


class Own(BaseCallback):
    def __init__(self, exam):
        super().__init__()
        self.exam = exam

    def _on_step(self):
        self.consider()
        if self.n_calls % 512 == 0:
            state["examining"] = True
            evaluate_policy(self.model, self.exam, n_eval_episodes=1)
            state["examining"] = False
            self.model.save(Clay())
        return True

    def consider(self):
        toil("other")


def main():
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 3072
    envs = make_vec_env(Seesaw, n_envs=2, seed=8, wrapper_class=Doubled)
    exam = make_vec_env(Seesaw, n_envs=1, seed=9, wrapper_class=Doubled)
    details = {"features_extractor_class": Thinking, "optimizer_class": Grudging}
    model = PPO("MlpPolicy", envs, n_steps=128, batch_size=64, n_epochs=5, seed=8, device="cpu", policy_kwargs=details)
    model.learn(size, callback=Own(exam))
    seen["seconds"] = time.perf_counter() - state["first"]


if __name__ == "__main__":
    main()
    if "TRUTH" in os.environ:
        with open(os.environ["TRUTH"], "w") as file:
            json.dump(seen, file)
