"""How the environment hook tells a finished episode from one that goes on."""

import gymnasium as gym
import numpy as np

from rldebug.capture.gymnasium import EnvWatch
from tests.planted_envs._tag import Tag
from tests.planted_envs._time_step import Balance


def watched(env, on_step=lambda: None):
    watch = EnvWatch(env, failed=lambda what: (_ for _ in ()).throw(AssertionError(what)), on_step=on_step)
    watch.attach()
    return watch


class Counter:
    """Ends after three steps; resets itself inside the next `step()` if asked to."""

    def __init__(self, resets_itself):
        self.resets_itself, self.t = resets_itself, 0

    def reset(self, **kwargs):
        self.t = 0
        return np.zeros(1, np.float32), {}

    def step(self, action):
        if self.resets_itself and self.t == 3:
            self.t = 0
        self.t += 1
        return np.full(1, self.t, np.float32), 1.0, self.t >= 3, False, {}


def drive(env, steps):
    env.reset()
    for _ in range(steps):
        env.step(0)


def test_steps_after_an_end_are_counted_and_are_ends_again():
    env = Counter(resets_itself=False)
    watch = watched(env)
    drive(env, 10)
    assert (watch.facts()["stepped_after_end"], watch.facts()["ended_again"]) == (7, 7)
    assert watch.lengths == [3]


def test_an_environment_that_resets_itself_flags_few_of_them():
    env = Counter(resets_itself=True)
    watch = watched(env)
    drive(env, 30)
    assert watch.facts()["stepped_after_end"] == 27
    assert watch.facts()["ended_again"] == 9


def test_a_single_environment_may_be_wrapped_to_reset_itself():
    env = gym.wrappers.Autoreset(gym.make("Pendulum-v1", max_episode_steps=5))
    watch = watched(env)
    env.reset(seed=0)
    for _ in range(23):
        env.step(np.zeros(1, np.float32))
    assert watch.facts()["autoreset"] == "next-step"
    assert watch.facts()["stepped_after_end"] == 0
    assert watch.lengths == [5, 5, 5, 5]  # a step that only resets belongs to no episode
    assert watch.steps == 20


def test_the_registered_time_limit_is_known_without_its_wrapper():
    facts = watched(gym.make("Pendulum-v1").unwrapped).facts()
    assert (facts["time_limit"], facts["registered_limit"]) == (None, 200)


def test_an_open_line_is_closed_before_the_step_is_counted():
    env = Counter(resets_itself=False)
    seen = []
    watch = watched(env, on_step=lambda: seen.append(watch.steps))
    drive(env, 3)
    assert seen == [0, 1, 2]


def test_agents_that_are_out_are_neither_counted_nor_said_to_be_stepped():
    env = Tag(limit=6)
    watch = watched(env)
    rng = np.random.default_rng(0)
    paid = 0.0
    for _ in range(40):
        env.reset()
        while env.agents:
            _, rewards, *_ = env.step({each: int(rng.integers(3)) for each in env.agents})
            paid += sum(rewards.values())
    assert watch.facts()["stepped_after_end"] == 0
    assert len(watch.lengths) == 3 * 40
    assert watch.terminated > 0
    assert watch.truncated > 0
    assert np.isclose(watch.reward_sum, paid)
    assert watch.steps == sum(watch.lengths)


def test_a_time_step_says_how_an_episode_ended():
    env = Balance(seed=0)
    watch = watched(env)
    env.reset()
    for _ in range(400):
        env.step(1)
    assert watch.facts()["autoreset"] == "next-step"
    assert watch.truncated > 2
    assert set(watch.lengths) - {60} == {length for length in watch.lengths if length < 60}
    assert watch.facts()["stepped_after_end"] == 0
