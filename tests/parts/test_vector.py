"""Environments side by side: same-step autoreset, seeds per episode, and episodes that are played again."""

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium import spaces

from rldebug.parts.vector import Envs, true_next


class Counter(gym.Env):
    """The observation says which episode (by its seed) and which step; ends after `length` steps."""

    observation_space = spaces.Box(-np.inf, np.inf, (2,), np.float64)
    action_space = spaces.Discrete(3)

    def __init__(self, length=3, cut=False):
        self.length, self.cut = length, cut

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t, self.mark = 0, float(self.np_random.integers(1 << 30))
        return np.array([self.mark, 0.0]), {}

    def step(self, action):
        self.t += 1
        over = self.t == self.length
        obs = np.array([self.mark + self.np_random.random() + float(action), float(self.t)])
        return obs, 1.0, over and not self.cut, over and self.cut, {}


class Forgetful(Counter):
    """Draws from a generator that no seed reaches."""

    drawn = np.random.default_rng(0)

    def step(self, action):
        obs, *rest = super().step(action)
        return obs + self.drawn.random(), *rest


class Nested(Counter):
    observation_space = spaces.Dict(
        {"where": spaces.Box(-np.inf, np.inf, (2,), np.float64), "pair": spaces.Tuple((spaces.Discrete(9),) * 2)}
    )

    def reset(self, *, seed=None, options=None):
        obs, info = super().reset(seed=seed)
        return {"where": obs, "pair": (0, 1)}, info

    def step(self, action):
        obs, *rest = super().step(action)
        return {"where": obs, "pair": (self.t, int(action))}, *rest


def test_the_step_that_ends_an_episode_returns_the_first_observation_of_the_next():
    envs = Envs(lambda: Counter(length=2), 2, seed=0)
    first, _ = envs.reset()
    envs.step(np.array([0, 0]))
    obs, reward, terminated, truncated, info = envs.step(np.array([1, 2]))
    assert terminated.all()
    assert not truncated.any()
    assert (reward == 1).all()
    assert (obs[:, 1] == 0).all()
    assert (obs[:, 0] != first[:, 0]).all()
    final = true_next(obs, info)
    assert (final[:, 1] == 2).all()
    assert (obs[:, 1] == 0).all()  # and the observations themselves are left alone
    assert envs.finished == [(2.0, 2), (2.0, 2)]


def test_only_the_ended_rows_are_replaced():
    lengths = iter((2, 5))
    envs = Envs(lambda: Counter(length=next(lengths), cut=True), 2, seed=0)
    envs.reset()
    envs.step(np.array([0, 0]))
    obs, _, terminated, truncated, info = envs.step(np.array([0, 0]))
    assert list(truncated) == [True, False]
    assert not terminated.any()
    final = true_next(obs, info)
    assert list(final[:, 1]) == [2, 2]
    assert list(obs[:, 1]) == [0, 2]


def test_where_nothing_ended_the_next_observations_are_the_observations():
    envs = Envs(Counter, 1, seed=0)
    envs.reset()
    obs, *_, info = envs.step(np.array([0]))
    assert true_next(obs, info) is obs


def test_no_array_returned_is_written_to_later():
    envs = Envs(Counter, 2, seed=0)
    obs, _ = envs.reset()
    kept = obs.copy()
    actions = np.array([1, 1])
    envs.step(actions)
    actions[:] = 0  # nor is the caller's array kept
    assert (obs == kept).all()
    assert envs.state_dict()["actions"] == [[1], [1]]


def test_the_environments_differ_and_the_seed_decides():
    def marks(seed):
        return [Envs(Counter, 4, seed=seed).reset()[0][i, 0] for i in range(4)]

    assert len(set(marks(0))) == 4
    assert marks(0) == marks(0) != marks(1)


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 7])
@pytest.mark.parametrize("kind", [Counter, Nested], ids=["box", "nested"])
def test_a_saved_state_goes_on_as_if_nothing_had_happened(kind, steps, tmp_path):
    def go_on(envs, n):
        seen = []
        for i in range(n):
            obs, reward, *_ = envs.step(np.array([i % 3, (i + 1) % 3]))
            seen.append((str(obs), str(reward)))
        return seen, envs.finished

    envs = Envs(kind, 2, seed=3)
    envs.reset()
    go_on(envs, steps)
    envs.finished.clear()
    torch.save(envs.state_dict(), tmp_path / "state.pt")
    expected = go_on(envs, 8)

    other = Envs(kind, 2, seed=99)
    _, problems = other.load_state_dict(torch.load(tmp_path / "state.pt", weights_only=True))
    assert problems == []
    assert go_on(other, 8) == expected


def test_an_environment_that_is_not_deterministic_is_named_and_starts_anew():
    envs = Envs(lambda: Forgetful(length=5), 2, seed=0)
    envs.reset()
    envs.step(np.array([0, 0]))
    other = Envs(lambda: Forgetful(length=5), 2, seed=0)
    obs, problems = other.load_state_dict(envs.state_dict())
    assert [each.partition(":")[0] for each in problems] == ["environment 0", "environment 1"]
    assert (obs[:, 1] == 0).all()


def test_a_state_of_another_number_of_environments_is_refused():
    envs = Envs(Counter, 2, seed=0)
    envs.reset()
    with pytest.raises(ValueError, match="of 2 environments, there are 3"):
        Envs(Counter, 3, seed=0).load_state_dict(envs.state_dict())


def test_the_return_counted_is_that_of_the_game_not_the_clipped_one():
    class Clipped(Counter):
        def step(self, action):
            obs, reward, *ends, _ = super().step(action)
            return obs, reward, *ends, {"raw_reward": 7.0}

    envs = Envs(lambda: Clipped(length=2), 1, seed=0)
    envs.reset()
    envs.step(np.array([0]))
    _, reward, *_ = envs.step(np.array([0]))
    assert reward[0] == 1.0
    assert envs.finished == [(14.0, 2)]


def test_agrees_with_gymnasium_on_cartpole():
    """The same episodes as Gymnasium's own vector environment, where that one is given the same seeds."""
    ours = Envs(lambda: gym.make("CartPole-v1"), 2, seed=0)
    obs, _ = ours.reset()
    theirs = gym.make_vec("CartPole-v1", 2, vectorization_mode="sync")
    seeds = [np.random.SeedSequence(0, spawn_key=(i, 0)).generate_state(256)[0] & 0x7FFFFFFF for i in range(2)]
    expected, _ = theirs.reset(seed=[int(each) for each in seeds])
    np.testing.assert_array_equal(obs, expected)
    for t in range(8):  # left and right in turn: no episode ends
        actions = np.array([t % 2, 1 - t % 2])
        one, two = ours.step(actions), theirs.step(actions)
        for a, b in zip(one[:4], two[:4], strict=True):
            np.testing.assert_array_equal(a, b)
    theirs.close()


class Lives(Counter):
    """A game of three lives, of two steps each."""

    lives = 0

    def reset(self, *, seed=None, options=None):
        if seed is None and self.lives:
            return np.array([self.mark, float(self.t)]), {}
        self.lives = 3
        return super().reset(seed=seed)

    def step(self, action):
        obs, reward, *_ = super().step(action)
        lost = self.t % 2 == 0
        self.lives -= lost
        return obs, reward, lost, False, {"life_lost": True} if lost and self.lives else {}


def test_a_lost_life_ends_the_episode_but_not_the_game():
    envs = Envs(Lives, 1, seed=0)
    envs.reset()
    over = [bool(envs.step(np.array([0]))[2][0]) for _ in range(6)]
    assert over == [False, True] * 3
    assert envs.finished == [(6.0, 6)]


@pytest.mark.parametrize("steps", [2, 3, 4, 5])
def test_a_game_is_played_again_through_its_lives(steps):
    envs, other = Envs(Lives, 1, seed=0), Envs(Lives, 1, seed=1)
    envs.reset()
    for _ in range(steps):
        envs.step(np.array([1]))
    _, problems = other.load_state_dict(envs.state_dict())
    assert problems == []
    for _ in range(6):
        np.testing.assert_array_equal(envs.step(np.array([2]))[0], other.step(np.array([2]))[0])
    assert envs.finished == other.finished != []
