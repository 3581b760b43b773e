import gymnasium as gym
import numpy as np
import pytest

from rldebug.probes.flat import Flat
from rldebug.probes.play_forks import effects, twins


class Walk(gym.Env):
    """A walk with wind; what is heard of the action is up to the settings."""

    def __init__(self, space=None, *, hears=True, shows=True, pays=True, repeats=True, used=(0, 1)):
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (2,), np.float64)
        self.action_space = space or gym.spaces.Discrete(3)
        self.hears, self.shows, self.pays, self.repeats, self.used = hears, shows, pays, repeats, used

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x = self.wind = 0.0
        self.t = 0
        return np.zeros(2), {}

    def step(self, action):
        self.t += 1
        self.wind = (self.np_random if self.repeats else np.random.default_rng()).normal()
        values = np.ravel(action).astype(float)
        push = float(sum(values[each] for each in self.used if each < len(values))) if self.hears else 0.0
        self.x += push
        obs = np.array([self.x if self.shows else 0.0, self.wind])
        return obs, self.wind + (push if self.pays else 0.0), False, self.t >= 20, {}


def paired(env):
    return twins(env, Flat(env.observation_space), seconds=20.0, step_seconds=1e-5, seed=0)


def test_an_action_that_is_heard_changes_everything_it_should():
    found, untouched = paired(Walk())
    assert (found.pairs, found.ended, found.obs_differ, found.rewards_differ, found.ends_differ) == (12, 12, 12, 12, 0)
    assert found.repeatable
    assert found.rewards_vary
    assert untouched.tolist() == [False, True]


def test_an_action_that_is_not_heard_changes_nothing():
    found, _ = paired(Walk(hears=False))
    assert (found.pairs, found.obs_differ, found.rewards_differ, found.ends_differ) == (12, 0, 0, 0)


def test_an_action_that_is_only_not_paid():
    found, _ = paired(Walk(pays=False))
    assert (found.obs_differ, found.rewards_differ) == (12, 0)


def test_an_environment_that_does_not_repeat_itself_is_left_alone():
    found, _ = paired(Walk(repeats=False))
    assert not found.repeatable
    assert found.pairs == 0


def test_one_that_draws_from_the_global_generator_does_repeat_itself():
    class Global(Walk):
        def step(self, action):
            obs, reward, *rest = super().step(action)
            return obs, reward + np.random.random(), *rest

    assert paired(Global())[0].repeatable


def tried(env):
    return effects(env, Flat(env.observation_space), seconds=30.0, seed=0)


def test_actions_that_differ():
    found = tried(Walk())
    assert found.tries == 120
    assert found.tried == ("0", "1", "2")
    assert found.same == ()


def test_two_actions_that_do_the_same():
    class Double(Walk):
        def step(self, action):
            return super().step(min(int(action), 1))

    assert tried(Double()).same == (("1", "2"),)


def test_a_dimension_that_does_nothing():
    space = gym.spaces.Box(-1, 1, (3,))
    assert tried(Walk(space, used=(0, 2))).idle == ("action[1]",)
    assert tried(Walk(space, used=(0, 1, 2))).idle == ()


def test_an_action_that_the_mask_forbids_is_not_tried():
    class Masked(Walk):
        def reset(self, **given):
            return super().reset(**given)[0], {"action_mask": [1, 1, 0]}

        def step(self, action):
            assert action != 2
            return *super().step(action)[:4], {"action_mask": [1, 1, 0]}

    assert tried(Masked()).tries == 0


@pytest.mark.parametrize(
    "space", [gym.spaces.MultiBinary(2), gym.spaces.MultiDiscrete([2, 2])], ids=["bits", "choices"]
)
def test_other_spaces_are_not_tried(space):
    assert tried(Walk(space)).tried == ()
