import json
import sys
from pathlib import Path

import gymnasium as gym
import pytest

OWN = """
import gymnasium as gym

class Own(gym.Env):
    observation_space = gym.spaces.Discrete(2)
    action_space = gym.spaces.Discrete(2)

    def __init__(self, pay=1.0, lengths=(3,), name="x", hard=False):
        self.pay, self.length, self.name, self.hard = pay, lengths[0], name, hard

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.left = self.length
        return 0, {}

    def step(self, action):
        self.left -= 1
        return 0, self.pay * (1 + self.hard) + len(self.name) - 1, False, self.left == 0, {}

gym.register("Own-v0", Own)
"""


@pytest.fixture(autouse=True)
def own(monkeypatch):
    monkeypatch.setattr(sys, "path", sys.path[:])
    Path("rldebug_own_module.py").write_text(OWN, encoding="utf-8")
    yield
    sys.modules.pop("rldebug_own_module", None)
    gym.registry.pop("Own-v0", None)


def test_the_figures_are_printed(rldebug):
    said = rldebug("baseline", "CartPole-v1", "--episodes", "20")
    assert said.status == 0, said.err
    words = " ".join(said.out.split())
    assert "CartPole-v1 · random policy, 20 episodes, seed 0" in words
    for label in ("return", "95 %", "median", "worst", "best", "length", "speed", "steps/s"):
        assert label in words
    assert "!" not in words


def test_the_seed_decides(rldebug):
    def line(seed):
        return rldebug("baseline", "CartPole-v1", "--episodes", "5", "--seed", seed).out.splitlines()[1].split()

    assert line(1) == line(1) != line(2)


def test_json(rldebug):
    rldebug("baseline", "CartPole-v1", "--episodes", "5", "--json", "out.json")
    written = json.loads(Path("out.json").read_text(encoding="utf-8"))
    assert written["command"] == "baseline"
    assert written["episodes"] == 5
    assert written["low"] <= written["mean"] <= written["high"]
    said = rldebug("baseline", "CartPole-v1", "--episodes", "5", "--json", "-")
    again = json.loads(said.out)
    assert {**again, "seconds": 0} == {**written, "seconds": 0}


def test_one_of_the_users_own(rldebug):
    said = rldebug("baseline", "rldebug_own_module:Own-v0", "--episodes", "4", "--json", "-")
    assert said.status == 0, said.err
    assert json.loads(said.out)["mean"] == 3.0


def test_arguments_reach_the_environment(rldebug):
    given = ["pay=2.5", "lengths=[7]", "hard=true", "name=xyz"]
    options = [word for each in given for word in ("--env-arg", each)]
    said = rldebug("baseline", "rldebug_own_module:Own-v0", "--episodes", "2", *options, "--json", "-")
    assert said.status == 0, said.err
    assert json.loads(said.out)["mean"] == 7 * (2.5 * 2 + 2)


def test_one_episode_is_flagged(rldebug):
    said = rldebug("baseline", "CartPole-v1", "--episodes", "1")
    assert said.status == 0
    assert "! one episode is too few for an interval" in said.out
    assert "95 %" not in said.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["CartPol-v1"], "Did you mean: 'CartPole'?"),
        (["CartPole-v1", "--env-arg", "mass"], "expected NAME=VALUE"),
        (["CartPole-v1", "--env-arg", "mass=3"], "unexpected keyword argument 'mass'"),
        (["no_such_module_here:Own-v0"], "No module named 'no_such_module_here'"),
        (["CartPole-v1", "--episodes", "0"], "--episodes"),
    ],
    ids=["unknown", "not a pair", "unknown argument", "no module", "no episodes"],
)
def test_it_could_not_run(rldebug, arguments, said):
    heard = rldebug("baseline", *arguments)
    assert heard.status == 2
    assert said in heard.err
    assert "bug in rldebug" not in heard.err
