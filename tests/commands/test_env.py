import json
import sys
from pathlib import Path

import pytest

LITTLE = ("--steps", "1500", "--seconds", "6")
OWN = """
import gymnasium as gym
import numpy as np

class Tank(gym.Env):
    def __init__(self, deaf=False):
        self.deaf = deaf
        self.observation_space = gym.spaces.Box(-2, 2, (2,), np.float32)
        self.action_space = gym.spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.level, self.t = float(self.np_random.uniform(-1, 1)), 0
        return self._obs(), {}

    def _obs(self):
        return np.array([self.level, self.t / 30], np.float32)

    def step(self, action):
        assert self.action_space.contains(action), action
        push = 0 if self.deaf else 0.2 * (int(action) - 1)
        self.level = float(np.clip(self.level + push + self.np_random.normal(0, 0.1), -2, 2))
        self.t += 1
        return self._obs(), -abs(self.level), False, self.t >= 30, {}

def steady(obs):
    return 1 if abs(obs[0]) < 0.1 else int(obs[0] < 0) * 2
"""


@pytest.fixture
def own(monkeypatch):
    monkeypatch.setattr(sys, "path", sys.path[:])
    file = Path("rldebug_tank.py")
    file.write_text(OWN, encoding="utf-8")
    yield str(file)
    sys.modules.pop("rldebug_tank", None)


def test_a_sound_environment_exits_0(rldebug, own):
    said = rldebug("env", f"{own}:Tank", "--automaton", f"{own}:steady", *LITTLE)
    assert said.status == 0, said.out
    words = " ".join(said.out.split())
    for each in ("player return 95 % length episodes ended by", "random", "steady", "best constant", "tabular"):
        assert each in words
    assert "nothing wrong found" in words


def test_a_fault_is_named_and_exits_1(rldebug, own):
    said = rldebug("env", f"{own}:Tank", "--env-arg", "deaf=true", *LITTLE)
    assert said.status == 1, said.err
    assert "error[ENV031]: no action changes anything" in said.out


def test_json(rldebug, own):
    said = rldebug("env", "rldebug_tank:Tank", "--env-arg", "deaf=true", "--json", "-", *LITTLE)
    data = json.loads(said.out)
    assert (said.status, data["command"], data["exit"]) == (1, "env", 1)
    assert data["findings"][0]["code"] == "ENV031"
    assert data["program"]["name"] == "rldebug_tank:Tank"
    rldebug("env", "rldebug_tank:Tank", "--json", "out.json", *LITTLE)
    assert json.loads(Path("out.json").read_text(encoding="utf-8"))["exit"] == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["CartPol-v1"], "CartPol"),
        (["nowhere.py:Tank"], "nowhere.py: no such file"),
        (["CartPole-v1", "--env-arg", "mass"], "expected NAME=VALUE"),
        (["CartPole-v1", "--env-arg", "mass=3"], "unexpected keyword argument 'mass'"),
        (["CartPole-v1", "--steps", "0"], "--steps"),
        (["CartPole-v1", "--automaton", "nowhere.py:act"], "nowhere.py: no such file"),
    ],
    ids=["unknown", "no file", "not a pair", "unknown argument", "no steps", "no automaton"],
)
def test_it_could_not_run(rldebug, arguments, said):
    heard = rldebug("env", *arguments)
    assert heard.status == 2
    assert said in heard.err
    assert "bug in rldebug" not in heard.err
