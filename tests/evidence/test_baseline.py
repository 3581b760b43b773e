import json
import math
import random
import statistics
import sys
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
import torch

from rldebug.evidence.baseline import Baseline, BaselineError, cached, interval, random_return
from rldebug.parts.make import EnvError


class Walk(gym.Env):
    """Ends by itself or is cut off, each with its own chance; writes down what was played."""

    observation_space = gym.spaces.Box(-1.0, 1.0, (1,))
    action_space = gym.spaces.Discrete(3)

    def __init__(self, end=0.2, cut=0.1, start=0):
        self.end, self.cut = end, cut
        self.action_space = gym.spaces.Discrete(3, start=start)
        self.returns, self.lengths, self.actions = [], [], []

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.returns.append(0.0)
        self.lengths.append(0)
        return np.array([9.0]), {}  # outside the space, which is fine

    def step(self, action):
        reward = float(action) - 0.5 * self.np_random.random()
        self.returns[-1] += reward
        self.lengths[-1] += 1
        self.actions.append(int(action))
        terminated, truncated = self.np_random.random() < self.end, self.np_random.random() < self.cut
        return np.array([9.0]), reward, terminated, truncated, {}


class Masked(Walk):
    """Only one action is allowed at a time, and it changes."""

    make_mask = staticmethod(lambda allowed: np.arange(3) == allowed)

    def reset(self, **given):
        obs, _ = super().reset(**given)
        self.allowed = 0
        return obs, {"action_mask": self.make_mask(0)}

    def step(self, action):
        assert action == self.allowed, f"{action} is not allowed"
        self.allowed = (self.allowed + 1) % 3
        return (*super().step(action)[:4], {"action_mask": self.make_mask(self.allowed)})


class Global(Walk):
    """Draws from the global generators, as many home-made environments do."""

    def step(self, action):
        reward = random.random() + np.random.random() + torch.rand(()).item()
        return np.zeros(1), reward, np.random.random() < 0.2, False, {}


class Guess(gym.Env):
    """1 for guessing the environment's own random number."""

    observation_space = gym.spaces.Discrete(1)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}

    def step(self, action):
        return 0, float(action == self.np_random.integers(2)), False, False, {}


PLAYED: list[str] = []


class Counted(Walk):
    def __init__(self, name="", **given):
        super().__init__(**given)
        PLAYED.append(name)


gym.register("rldebug/Counted-v0", Counted)
gym.register("rldebug/Limited-v0", Walk, max_episode_steps=5)


# ── the figures ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("episodes", [2, 3, 40])
def test_figures_are_those_of_what_was_played(episodes):
    env = Walk()
    found = random_return(lambda: env, episodes=episodes, seed=4)
    assert found.env_id == "Walk"
    assert found.episodes == episodes == len(env.returns)
    assert found.mean == pytest.approx(sum(env.returns) / episodes)
    assert found.median == pytest.approx(statistics.median(env.returns))
    assert found.best == pytest.approx(max(env.returns))
    assert found.worst == pytest.approx(min(env.returns))
    assert found.length_mean == pytest.approx(sum(env.lengths) / episodes)
    assert found.steps == sum(env.lengths)
    assert found.low <= found.mean <= found.high
    assert found.note == ""


def test_actions_are_uniform():
    env = Walk()
    random_return(lambda: env, episodes=600)
    counts = np.bincount(env.actions)
    assert len(counts) == 3
    assert (abs(counts / counts.sum() - 1 / 3) < 0.05).all()


def test_the_interval_is_that_of_a_mean():
    values = np.random.default_rng(0).normal(5.0, 2.0, size=400)
    low, high = interval(values)
    error = 1.96 * values.std() / math.sqrt(400)
    assert low == pytest.approx(values.mean() - error, abs=0.1 * error)
    assert high == pytest.approx(values.mean() + error, abs=0.1 * error)


def test_actions_do_not_follow_the_environments_own_numbers():
    found = random_return(lambda: gym.wrappers.TimeLimit(Guess(), 100), episodes=20)
    assert found.mean == pytest.approx(50, abs=4)


def test_a_limit_on_time_ends_an_episode():
    found = random_return("rldebug/Limited-v0", env_args={"end": 0.0, "cut": 0.0}, episodes=3)
    assert found.length_mean == 5
    assert found.episodes == 3


# ── seeds ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", [Walk, Global])
def test_the_seed_decides(kind):
    first = random_return(kind, episodes=10, seed=1)
    random.seed(99), np.random.seed(99), torch.manual_seed(99)
    assert random_return(kind, episodes=10, seed=1) == first
    assert random_return(kind, episodes=10, seed=2) != first


@pytest.mark.parametrize("kind", [Walk, Global])
def test_global_generators_are_left_as_they_were(kind):
    before = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()
    random_return(kind, episodes=3)
    assert (random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()) == before


def test_global_generators_are_put_back_after_a_crash():
    before = random.getstate()
    with pytest.raises(BaselineError):
        random_return(lambda: Broken(step=lambda: 1 / 0))
    assert random.getstate() == before


# ── masks ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", [bool, np.int8, np.float32, list], ids=["bool", "int8", "float32", "list"])
def test_masks_are_honoured(kind):
    class Kind(Masked):
        @staticmethod
        def make_mask(allowed):
            mask = np.arange(3) == allowed
            return mask.tolist() if kind is list else mask.astype(kind)

    env = Kind()
    random_return(lambda: env, episodes=20)
    assert set(env.actions) == {0, 1, 2}


def test_a_mask_for_each_part_of_an_action():
    class Parts(Walk):
        def reset(self, **given):
            self.action_space = gym.spaces.MultiDiscrete([2, 3])
            return super().reset(**given)[0], {"action_mask": (np.array([True, False]), np.array([False, False, True]))}

        def step(self, action):
            assert action.tolist() == [0, 2]
            return np.zeros(1), 1.0, True, False, {}

    def make():
        env = Parts()
        env.action_space = gym.spaces.MultiDiscrete([2, 3])
        return env

    assert random_return(make, episodes=4).mean == 1


def test_a_mask_that_does_not_fit():
    class Wrong(Masked):
        make_mask = staticmethod(lambda allowed: np.ones(5, bool))

    with pytest.raises(BaselineError, match=r"action_mask.* does not fit the action space Discrete\(3\)"):
        random_return(Wrong)


# ── episodes that do not end ────────────────────────────────────────────────────────────────────────────────────────


def test_an_episode_that_never_ends_is_cut_off():
    env = Walk(end=0.0, cut=0.0)
    found = random_return(lambda: env, episodes=50, most_steps=100)
    assert env.lengths == [100, 100]  # after two, no more are tried
    assert found.episodes == 0
    assert found.mean == pytest.approx(sum(env.returns) / 2)
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert "so far (no episode ended within 100 steps)" in found.text
    assert found.note.startswith("2 episodes did not end within 100 steps and were cut off: the returns are partial")


def test_what_was_cut_off_is_left_out():
    env = Walk(end=0.1, cut=0.0)
    found = random_return(lambda: env, episodes=30, most_steps=12)
    ended = [total for total, length in zip(env.returns[:-1], env.lengths[:-1], strict=True) if length < 12]
    assert env.lengths[-1] == 12
    assert found.episodes == len(ended) < 30
    assert found.mean == pytest.approx(sum(ended) / len(ended))
    assert f"left out: the figures are of the {len(ended)} that ended of the 30 wanted" in found.note


def test_one_episode_has_no_interval():
    found = random_return(Walk, episodes=1)
    assert found.episodes == 1
    assert math.isnan(found.low)
    assert "too few for an interval" in found.text
    assert "too few for an interval" in found.note
    assert found.to_dict()["low"] is None


@pytest.mark.parametrize("wrong", [{"episodes": 0}, {"most_steps": 0}])
def test_nothing_to_play(wrong):
    with pytest.raises(BaselineError, match="at least one"):
        random_return(Walk, **wrong)


# ── in words ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("mean", "low", "high", "text"),
    [
        (22.1234, 20.31, 24.0, "random policy: 22.1 (95 % 20.3 – 24.0, 50 episodes)"),
        (-1316.6, -1397.0, -1234.2, "random policy: -1 317 (95 % -1 397 – -1 234, 50 episodes)"),
        (0.0123, 0.004, 0.02, "random policy: 0.0123 (95 % 0.0040 – 0.0200, 50 episodes)"),
        (-0.01, -1.0, 1.0, "random policy: 0.0 (95 % -1.0 – 1.0, 50 episodes)"),
        (-200.0, -200.0, -200.0, "random policy: -200 (the same in all 50 episodes)"),
        (0.0, 0.0, 0.0, "random policy: 0 (the same in all 50 episodes)"),
    ],
    ids=["units", "thousands", "small", "no minus zero", "constant", "zero"],
)
def test_text(mean, low, high, text):
    assert Baseline("E", 50, mean, low, high, mean, 10.0, high, low, 500).text == text


# ── environments that break their contract ──────────────────────────────────────────────────────────────────────────


class Broken(Walk):
    def __init__(self, reset=None, step=None):
        super().__init__()
        self._reset, self._step = reset, step

    def reset(self, **given):
        return self._reset() if self._reset else super().reset(**given)

    def step(self, action):
        return self._step() if self._step else super().step(action)


gym.register("rldebug/Broken-v0", Broken, max_episode_steps=10)

OBS = np.zeros(1)


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ({"step": lambda: (OBS, 0.0, False, {})}, "step() returned 4 values, as gym did before 0.26, expected five"),
        ({"step": lambda: (OBS, 0.0)}, "step() returned 2 values, expected five"),
        ({"step": lambda: (OBS, 0.0, False, False, {}, 1)}, "expected five"),
        ({"step": lambda: (OBS, [1.0, 2.0], False, False, {})}, "the reward has shape (2,), expected one number"),
        ({"step": lambda: (OBS, None, False, False, {})}, "expected a finite number"),
        ({"step": lambda: (OBS, "ten", False, False, {})}, "the reward is a str, expected a number"),
        ({"step": lambda: (OBS, math.nan, False, False, {})}, "the reward is nan, expected a finite number"),
        ({"step": lambda: 1 / 0}, "step() raised ZeroDivisionError: division by zero ("),
        ({"reset": lambda: OBS}, "reset() returned a ndarray, as gym did before 0.26, expected (obs, info)"),
        ({"reset": lambda: (OBS, 1)}, "expected (obs, info) with a dictionary info"),
        ({"reset": lambda: 1 / 0}, "reset() raised ZeroDivisionError"),
    ],
    ids=["four", "two", "six", "vector", "none", "word", "nan", "step-raises", "obs-only", "no-info", "reset-raises"],
)
@pytest.mark.parametrize("wrapped", [False, True], ids=["bare", "made"])
def test_a_broken_contract_is_named(broken, said, wrapped):
    with pytest.raises(BaselineError) as error:
        random_return("rldebug/Broken-v0" if wrapped else Broken, env_args=broken)
    assert said in str(error.value)
    assert "Broken" in str(error.value)


def test_the_line_of_the_environment_is_named():
    with pytest.raises(BaselineError, match=r"test_baseline\.py:\d+"):
        random_return(lambda: Broken(step=lambda: 1 / 0))


def test_a_vector_environment_is_refused():
    with pytest.raises(BaselineError, match="vector environment"):
        random_return(lambda: gym.make_vec("CartPole-v1", num_envs=2))


def test_what_is_no_environment_is_refused():
    with pytest.raises(BaselineError, match="no environment"):
        random_return(object)


# ── making one ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_raises_while_it_is_made():
    with pytest.raises(BaselineError, match="could not be made: ZeroDivisionError"):
        random_return(lambda: 1 / 0)
    with pytest.raises(EnvError, match="Did you mean: 'CartPole'"):
        random_return("CartPol-v1")


# ── kept on disk ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def played():
    PLAYED.clear()
    return PLAYED


def test_played_once(played):
    first = cached("rldebug/Counted-v0", episodes=3)
    assert cached("rldebug/Counted-v0", episodes=3) == first == random_return("rldebug/Counted-v0", episodes=3)
    assert len(played) == 2
    [file] = Path(".rldebug/baselines").iterdir()
    assert file.name.startswith("rldebug-Counted-v0-")


def test_played_again_for_other_questions(played, monkeypatch, tmp_path):
    cached("rldebug/Counted-v0", tmp_path, episodes=3)
    cached("rldebug/Counted-v0", tmp_path, episodes=4)
    cached("rldebug/Counted-v0", tmp_path, episodes=3, seed=1)
    cached("rldebug/Counted-v0", tmp_path, episodes=3, env_args={"name": "other"})
    monkeypatch.setattr(gym, "__version__", "99.0")
    cached("rldebug/Counted-v0", tmp_path, episodes=3)
    assert played == ["", "", "", "other", ""]


@pytest.mark.parametrize("junk", ["", "{", "[]", '{"key": 1}', "null", "\x00\xff"])
def test_a_damaged_file_is_ignored_and_rewritten(junk, played):
    first = cached("rldebug/Counted-v0", episodes=2)
    [file] = Path(".rldebug/baselines").iterdir()
    file.write_text(junk, encoding="utf-8")
    assert cached("rldebug/Counted-v0", episodes=2) == first
    assert cached("rldebug/Counted-v0", episodes=2) == first
    assert len(played) == 2


@pytest.mark.parametrize("wrong", [{"mean": "high"}, {"colour": "red"}])
def test_a_file_that_holds_something_else_is_ignored(wrong, played):
    first = cached("rldebug/Counted-v0", episodes=2)
    [file] = Path(".rldebug/baselines").iterdir()
    stored = json.loads(file.read_text(encoding="utf-8"))
    stored["baseline"] |= wrong
    file.write_text(json.dumps(stored), encoding="utf-8")
    assert cached("rldebug/Counted-v0", episodes=2) == first
    assert len(played) == 2


def test_no_interval_survives_the_file():
    cached("rldebug/Counted-v0", episodes=1)
    again = cached("rldebug/Counted-v0", episodes=1)
    assert math.isnan(again.low)
    assert "too few" in again.text


def test_a_folder_that_cannot_be_written_to(played):
    Path("taken").write_text("a file")
    assert cached("rldebug/Counted-v0", Path("taken"), episodes=2).episodes == 2
    assert cached("rldebug/Counted-v0", Path("taken"), episodes=2).episodes == 2
    assert len(played) == 2


def test_played_again_when_the_environment_was_changed(monkeypatch, tmp_path):
    source = """
import gymnasium as gym
class Mine(gym.Env):
    observation_space = action_space = gym.spaces.Discrete(2)
    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {{}}
    def step(self, action):
        return 0, {reward}, True, False, {{}}
gym.register("rldebug/Mine-v0", Mine)
"""
    monkeypatch.syspath_prepend(tmp_path)
    file = tmp_path / "rldebug_test_mine.py"
    file.write_text(source.format(reward=1.0))
    assert cached("rldebug_test_mine:rldebug/Mine-v0", episodes=2).mean == 1
    monkeypatch.setattr(sys.modules["rldebug_test_mine"].Mine, "step", lambda self, action: (0, 2.0, True, False, {}))
    assert cached("rldebug_test_mine:rldebug/Mine-v0", episodes=2).mean == 1
    file.write_text(source.format(reward=2.0))
    assert cached("rldebug_test_mine:rldebug/Mine-v0", episodes=2).mean == 2
