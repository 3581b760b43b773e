"""dm_env, watched when the program imports it: its interface in a package of that name."""

import gymnasium as gym
import numpy as np
import pytest

from tests.capture.env_stub import watched
from tests.capture.test_vec_environments import fake
from tests.planted_envs._time_step import LAST, Balance, TimeStep

DM_ENV = """
    class Environment:
        def reset(self): ...
        def step(self, action): ...
"""


@pytest.fixture
def library(tmp_path, monkeypatch):
    yield from fake(tmp_path, monkeypatch, "dm_env._environment", DM_ENV)


def made(library):
    class Beam(library().Environment):
        def __init__(self):
            self.beam = Balance(seed=0)
            self.beam.limit = 3

        def action_spec(self):
            return self.beam.action_spec()

        def observation_spec(self):
            return self.beam.observation_spec()

        def reset(self):
            return self.beam.reset()

        def step(self, action):
            return self.beam.step(action)

    return Beam()


def test_the_discount_of_the_last_step_tells_its_end(library):
    with watched() as log:
        env = made(library)
        env.reset()
        for _ in range(4):
            env.step(1)
    assert log.whats() == "new reset step step step step"
    new, steps = log.only("new"), log.all("step")
    assert (new.kind, new.lanes, new.autoreset) == ("dm_env", 1, "next-step")
    assert [(each.terminated, each.truncated) for each in steps] == [(False, False)] * 2 + [
        (False, True),
        (False, False),
    ]
    assert steps[3].reward == 0.0  # there is none: an episode begins


def test_specs_are_noted_when_the_program_asks(library):
    with watched() as log:
        env = made(library)
        env.action_spec()
        env.reset()
        env.observation_spec()
    facts = log.only("new").facts
    assert (facts["action_space"], facts["action_n"]) == ("Discrete", 3)
    assert (facts["obs_space"], facts["obs_shape"], facts["obs_low"]) == ("Box", [1], -4.0)


@pytest.mark.parametrize("told", [True, False])
def test_whether_an_adapter_hands_a_cut_on_is_counted(library, told):
    class Adapter(gym.Env):
        def __init__(self, env):
            self.inner = env

        def reset(self, *, seed=None, options=None):
            return self.inner.reset().observation, {}

        def step(self, action):
            step = self.inner.step(action)
            last = step.step_type == LAST
            return step.observation, step.reward, last and not told, last and told, {}

    with watched() as log:
        env = Adapter(made(library))
        for _ in range(5):
            env.reset()
            for _ in range(3):
                env.step(1)
    new = log.only("new")  # what is inside is not told a second time
    assert new.kind == "gymnasium"
    assert (new.facts.get("cuts_told"), new.facts.get("cuts_untold")) == ((5, None) if told else (None, 5))


def test_a_step_that_cannot_be_read_is_counted(library):
    class Odd(library().Environment):
        def reset(self):
            return TimeStep(0, None, None, np.zeros(1))

        def step(self, action):
            return "nothing"

    with watched() as log:
        env = Odd()
        env.reset()
        env.step(0)
    assert log.whats() == "new reset step"
