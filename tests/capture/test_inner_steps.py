"""Stand-ins of steps that come from within others are taken out; nothing that the program itself steps is missed."""

import gymnasium as gym
import numpy as np
import pytest

from rldebug.capture import inner_steps as module
from rldebug.capture.env_calls import GROUP, shared_by
from rldebug.capture.environments import install
from rldebug.capture.inner_steps import InnerSteps
from rldebug.capture.switch import Switchboard

LAYERS = ("Within", "Around")


class Log:
    """Counts the steps of each innermost environment."""

    def __init__(self):
        self.steps = {}

    def light(self, known, result):
        name = type(known.ref()).__name__
        self.steps[name] = self.steps.get(name, 0) + 1
        return True

    def new(self, *args):
        pass

    def reset(self, *args):
        pass

    def step(self, env, *args):
        self.steps["met"] = self.steps.get("met", 0) + 1


@pytest.fixture
def log():
    return Log()


@pytest.fixture
def watched(log):
    switch = Switchboard()
    install(switch, log)
    InnerSteps(shared_by(switch, log))
    yield switch
    switch.undo()
    assert not switch.broken, "\n".join(switch.broken.values())


@pytest.fixture
def classes(watched):
    class Within(gym.Env):
        observation_space, action_space = gym.spaces.Box(-1, 1, (2,)), gym.spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            return np.zeros(2, np.float32), {}

        def step(self, action):
            return np.zeros(2, np.float32), 1.0, False, False, {}

    class Around(gym.Wrapper):
        def step(self, action):
            return super().step(action)

    return Within, Around


def stands_in(switch, cls):
    return any(owner is cls and vars(cls)["step"] is made for owner, name, _, made, _ in switch._put_back)


def play(env, steps=2 * module._SEEN):
    env.reset(seed=0)
    for _ in range(steps):
        env.step(0)


def test_steps_within_others_are_put_aside_and_the_outermost_is_told_still(classes, watched, log):
    within, around = classes
    env = around(within())
    play(env, 50)
    assert not stands_in(watched, within)
    assert not stands_in(watched, gym.Wrapper)  # called by super() alone
    assert stands_in(watched, around)
    assert log.steps == {"Around": 50}


def test_one_that_the_program_steps_itself_later_is_told_from_its_first_step(classes, watched, log):
    within, around = classes
    play(around(within()), 50)
    assert not stands_in(watched, within)
    play(within(), 20)  # to try what was learned
    assert stands_in(watched, within)
    assert log.steps == {"Around": 50, "Within": 20}


def test_one_that_inherits_its_step_is_told(classes, watched, log):
    within, around = classes
    play(around(within()), 50)

    class Plain(gym.Wrapper):  # its step is that of gym.Wrapper, which is put aside
        pass

    play(Plain(within()), 20)
    assert log.steps == {"Around": 50, "Plain": 20}


def test_one_that_was_stepped_by_the_program_is_never_put_aside(classes, watched, log):
    within, around = classes
    own, other = within(), around(within())
    play(own, 3)
    play(other, 100)
    own.step(0)  # goes on where it was, with no reset in between
    assert stands_in(watched, within)
    assert log.steps == {"Within": 4, "Around": 100}


def test_lanes_of_a_vector_are_put_aside(classes, watched, log):
    within, around = classes
    envs = gym.vector.SyncVectorEnv([lambda: around(within())] * 3)
    envs.reset(seed=0)
    for _ in range(20):
        envs.step(np.zeros(3, dtype=int))
    assert not stands_in(watched, within)
    assert not stands_in(watched, around)
    assert log.steps == {"SyncVectorEnv": 20}


def test_after_a_while_calls_from_within_are_let_be(classes, watched, log, monkeypatch):
    within, around = classes
    monkeypatch.setattr(module, "_LOOK", 40)
    shared = shared_by(watched, log)
    play(within(), 1)
    play(around(within()), 100)  # its class stays as it is: the program steps one of its own
    assert shared.within is True
    play(around(within()), 1)  # another object, and what is in it may be new
    assert shared.within is not True


def test_what_somebody_has_put_on_top_is_left_alone(classes, watched, log):
    within, around = classes
    ours = within.step

    def theirs(self, action):
        return ours(self, action)

    within.step = theirs
    play(around(within()), 50)
    assert within.step is theirs
    assert log.steps == {"Around": 50}


def test_everything_is_put_back():
    before = gym.Env.step, gym.Wrapper.step, gym.wrappers.TimeLimit.step
    switch, log = Switchboard(), Log()
    install(switch, log)
    InnerSteps(shared_by(switch, log))
    play(gym.make("MountainCar-v0"), 40)
    assert GROUP not in switch.off
    switch.undo()
    assert (gym.Env.step, gym.Wrapper.step, gym.wrappers.TimeLimit.step) == before
