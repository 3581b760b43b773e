"""Stable-Baselines3 and PettingZoo, watched when the program imports them: their interfaces, and they if installed."""

import sys
import textwrap

import gymnasium as gym
import numpy as np
import pytest

from tests.capture.env_stub import watched


class Counter(gym.Env):
    """Ends after two steps: odd episodes terminate, even ones are cut."""

    observation_space = gym.spaces.Box(-10, 10, (2,), np.float32)
    action_space = gym.spaces.Discrete(3)
    t = episode = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t, self.episode = 0, self.episode + 1
        return np.array([0, self.episode], np.float32), {}

    def step(self, action):
        self.t += 1
        over = self.t >= 2
        obs = np.array([self.t, self.episode], np.float32)
        return obs, float(self.t), over and self.episode % 2 == 1, over and self.episode % 2 == 0, {}


SB3 = """
    from abc import ABC, abstractmethod
    import numpy as np

    class VecEnv(ABC):
        def __init__(self, envs):
            self.envs, self.num_envs = envs, len(envs)
            self.observation_space, self.action_space = envs[0].observation_space, envs[0].action_space
            self._seeds = [None] * len(envs)
        def seed(self, seed):
            self._seeds = [seed + i for i in range(self.num_envs)]
        @abstractmethod
        def reset(self): ...
        @abstractmethod
        def step_async(self, actions): ...
        @abstractmethod
        def step_wait(self): ...
        def step(self, actions):
            self.step_async(actions)
            return self.step_wait()
        @property
        def unwrapped(self):
            return self.venv.unwrapped if hasattr(self, "venv") else self

    class DummyVecEnv(VecEnv):
        def reset(self):
            obs = np.stack([env.reset(seed=seed)[0] for env, seed in zip(self.envs, self._seeds)])
            self._seeds = [None] * self.num_envs
            return obs
        def step_async(self, actions):
            self.actions = actions
        def step_wait(self):
            rows = []
            for env, action in zip(self.envs, self.actions):
                obs, reward, terminated, truncated, info = env.step(action)
                info["TimeLimit.truncated"] = truncated and not terminated
                if terminated or truncated:
                    info["terminal_observation"] = obs
                    obs = env.reset()[0]
                rows.append((obs, reward, terminated or truncated, info))
            obs, reward, done, infos = zip(*rows)
            return np.stack(obs), np.array(reward), np.array(done), list(infos)

    class Times(VecEnv):
        def __init__(self, venv):
            self.venv = venv
            super().__init__(venv.envs)
        def seed(self, seed):
            self.venv.seed(seed)
        def reset(self):
            return self.venv.reset() * 10
        def step_async(self, actions):
            self.venv.step_async(actions)
        def step_wait(self):
            obs, reward, done, infos = self.venv.step_wait()
            for info in infos:
                if "terminal_observation" in info:
                    info["terminal_observation"] = info["terminal_observation"] * 10
            return obs * 10, reward * 10, done, infos
"""

PETTINGZOO = """
    class ParallelEnv:
        @property
        def unwrapped(self):
            return self
"""


@pytest.fixture
def sb3(tmp_path, monkeypatch):
    """The interface of VecEnv in a package of that name, imported by nobody yet."""
    yield from fake(tmp_path, monkeypatch, "stable_baselines3.common.vec_env.base_vec_env", SB3)


@pytest.fixture
def pettingzoo(tmp_path, monkeypatch):
    yield from fake(tmp_path, monkeypatch, "pettingzoo.utils.env", PETTINGZOO)


def fake(tmp_path, monkeypatch, name, source):
    *packages, module = name.split(".")
    for each in [each for each in sys.modules if each.split(".")[0] == packages[0]]:
        monkeypatch.delitem(sys.modules, each)
    folder = tmp_path / "site-packages"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    for each in packages:
        folder = folder / each
        folder.mkdir()
        (folder / "__init__.py").touch()
    (folder / f"{module}.py").write_text(textwrap.dedent(source))

    def load():
        __import__(name)
        return sys.modules[name]

    yield load
    for each in [each for each in sys.modules if each.split(".")[0] == packages[0]]:
        del sys.modules[each]


def test_vec_env_is_the_outermost(sb3):
    with watched() as log:
        library = sb3()
        env = library.Times(library.DummyVecEnv([Counter(), Counter()]))
        env.seed(7)
        env.reset()
        env.step(np.array([0, 1]))
        env.step(np.array([1, 2]))
        env.step(np.array([1, 2]))
        env.step_async(np.array([2, 2]))
        env.step_wait()
        env.reset()
    assert log.whats() == "new reset step step step step reset"
    new, steps = log.only("new"), log.all("step")
    assert (new.kind, new.lanes, new.autoreset) == ("sb3-vec", 2, "same-step")
    assert new.facts["wrappers"] == ["Times", "DummyVecEnv"]
    assert [each.seed for each in log.all("reset")] == [[7, 8], None]
    assert new.env == steps[0].env == id(env.unwrapped)
    np.testing.assert_array_equal(steps[0].obs, [[10, 10], [10, 10]])  # as the program gets them
    np.testing.assert_array_equal(steps[1].terminated, [True, True])
    np.testing.assert_array_equal(steps[1].truncated, [False, False])
    np.testing.assert_array_equal(steps[1].final, [[20, 10], [20, 10]])
    np.testing.assert_array_equal(steps[1].obs, [[0, 20], [0, 20]])
    np.testing.assert_array_equal(steps[3].truncated, [True, True])
    np.testing.assert_array_equal(steps[3].terminated, [False, False])
    np.testing.assert_array_equal(steps[3].action, [2, 2])


def test_vec_env_of_one_hands_over_one(sb3):
    with watched() as log:
        env = sb3().DummyVecEnv([Counter()])
        env.reset()
        env.step(np.array([0]))
        env.step(np.array([2]))
    step = log.all("step")[1]
    assert (step.action, step.reward, step.terminated, step.truncated) == (2, 2.0, True, False)
    np.testing.assert_array_equal(step.obs, [0, 2])
    np.testing.assert_array_equal(step.final, [[2, 1]])
    assert log.only("reset").obs.shape == (2,)


def test_agents_are_lanes_in_an_order_that_stays(pettingzoo):
    with watched() as log:
        library = pettingzoo()

        class Duel(library.ParallelEnv):
            possible_agents = ("red", "blue")

            def reset(self, seed=None, options=None):
                self.left = ["blue", "red"]
                return {each: np.zeros(2) for each in self.left}, {}

            def step(self, actions):
                seen = {each: np.full(2, actions[each]) for each in self.left}
                reward = {each: float(actions[each]) for each in self.left}
                ended = {each: each == "blue" for each in self.left}
                self.left = ["red"]
                return seen, reward, ended, dict.fromkeys(seen, False), {}

        env = Duel()
        env.reset(seed=3)
        env.step({"blue": 1, "red": 2})
        env.step({"red": 5})
    new, (first, second) = log.only("new"), log.all("step")
    assert (new.kind, new.lanes, new.facts["agents"]) == ("pettingzoo", 2, ["red", "blue"])
    assert log.only("reset").seed == 3
    assert first.action == [2, 1]
    np.testing.assert_array_equal(first.obs, [[2, 2], [1, 1]])
    np.testing.assert_array_equal(first.terminated, [False, True])
    np.testing.assert_array_equal(second.reward, [5, np.nan])  # out: no observation, and no number
    assert second.obs[1] is None


def test_real_stable_baselines():
    pytest.importorskip("stable_baselines3", reason="Stable-Baselines3 is in the extra `sb3`, which is not installed")
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

    with watched() as log:
        env = VecNormalize(DummyVecEnv([lambda: Monitor(Counter())] * 2))
        env.seed(7)
        obs = env.reset()
        for _ in range(4):
            after, *_ = env.step(np.array([0, 1]))
    assert log.whats() == "new reset step step step step"
    assert (log.only("new").kind, log.only("new").lanes) == ("sb3-vec", 2)
    assert log.only("reset").seed == [7, 8]
    np.testing.assert_array_equal(log.only("reset").obs, obs)
    np.testing.assert_array_equal(log.all("step")[3].obs, after)
    assert [bool(each.truncated.any()) for each in log.all("step")] == [False, False, False, True]
    assert [bool(each.terminated.any()) for each in log.all("step")] == [False, True, False, False]
    assert log.all("step")[1].final[0].shape == (2,)


def test_real_pettingzoo():
    pytest.importorskip("pettingzoo", reason="PettingZoo is in the extra `pettingzoo`, which is not installed")
    from pettingzoo.utils import env as env_of
    from pettingzoo.utils import wrappers

    class Pair(env_of.ParallelEnv):
        metadata = {"name": "pair"}  # noqa: RUF012
        possible_agents = ["a", "b"]  # noqa: RUF012
        agents = possible_agents

        def reset(self, seed=None, options=None):
            return {"a": np.zeros(1), "b": np.zeros(1)}, {"a": {}, "b": {}}

        def step(self, actions):
            return (
                {each: np.ones(1) for each in actions}, dict.fromkeys(actions, 1.0), dict.fromkeys(actions, False),
                dict.fromkeys(actions, True), {each: {} for each in actions},
            )  # fmt: skip

    with watched() as log:
        env = wrappers.BaseParallelWrapper(Pair())
        env.reset()
        env.step({"b": 0, "a": 1})
    assert log.whats() == "new reset step"
    assert log.only("step").action == [1, 0]
    np.testing.assert_array_equal(log.only("step").truncated, [True, True])
