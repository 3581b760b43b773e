"""Gymnasium as it is used: every step of the outermost environment, once, and never a changed one."""

import builtins
import copy
import inspect
import multiprocessing
import pickle
import subprocess
import sys
import threading
import weakref

import cloudpickle
import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import Autoreset, NormalizeObservation, RescaleAction, TimeLimit

from tests.capture.env_stub import watched


class Counter(gym.Env):
    """Terminates after `length` steps; says how often it was stepped."""

    observation_space = gym.spaces.Box(-np.inf, np.inf, (2,), np.float32)
    action_space = gym.spaces.Discrete(3)

    def __init__(self, length=3):
        self.length, self.t, self.episode = length, 0, 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t, self.episode = 0, self.episode + 1
        return self._obs(), {}

    def step(self, action):
        self.t += 1
        return self._obs(), float(self.t), self.t >= self.length, False, {}

    def _obs(self):
        return np.array([self.t, self.episode], dtype=np.float32)


class Pusher(gym.Env):
    """Clips its action in place, and hands out one and the same array."""

    observation_space = gym.spaces.Box(-1, 1, (1,), np.float32)
    action_space = gym.spaces.Box(-1, 1, (1,), np.float32)
    obs = np.zeros(1, dtype=np.float32)

    def reset(self, *, seed=None, options=None):
        self.obs[:] = 0
        return self.obs, {}

    def step(self, action):
        np.clip(action, -1, 1, out=action)
        self.obs += 1
        return self.obs, 0.0, False, False, {}


def test_step_of_outermost_is_told_once():
    with watched() as log:
        env = TimeLimit(NormalizeObservation(Counter()), 10)
        obs, _ = env.reset(seed=5)
        after, *_ = env.step(2)
    assert log.whats() == "new reset step"
    new, reset, step = log.said
    assert (new.kind, new.lanes, new.autoreset) == ("gymnasium", 1, "disabled")
    assert new.env == reset.env == step.env == id(env.unwrapped)
    assert new.facts["wrappers"] == ["TimeLimit", "NormalizeObservation"]
    assert (new.facts["time_limit"], new.facts["action_n"], new.facts["obs_shape"]) == (10, 3, [2])
    assert (reset.seed, step.action, step.reward, step.terminated) == (5, 2, 1.0, False)
    np.testing.assert_array_equal(reset.obs, obs)  # as the program gets them: normalised
    np.testing.assert_array_equal(step.obs, after)


def test_made_environment_knows_its_limit_and_line():
    with watched() as log:
        line = inspect.currentframe().f_lineno + 1
        env = gym.make("CartPole-v1", max_episode_steps=7)
        env.reset()
        env.unwrapped.reset()
    facts = log.only("new").facts
    assert (facts["id"], facts["time_limit"], facts["registered_limit"]) == ("CartPole-v1", 7, 500)
    assert facts["created"][0].endswith("test_environments.py")
    assert facts["created"][1] == line
    assert facts["obs_low"] is None  # unbounded


def test_wrapping_anew_is_no_new_environment():
    with watched() as log:
        env = Counter()
        env.reset()
        TimeLimit(env, 5).reset()
    assert log.whats() == "new reset reset"


def test_action_and_obs_are_as_they_were():
    action = np.array([3.0], dtype=np.float32)
    with watched() as log:
        env = Pusher()
        env.reset()
        for _ in range(3):
            env.step(action.copy())
    assert [float(each.action[0]) for each in log.all("step")] == [3.0, 3.0, 3.0]
    assert [float(each.obs[0]) for each in log.all("step")] == [1.0, 2.0, 3.0]


def test_outer_action_not_rescaled_one():
    with watched() as log:
        env = RescaleAction(Pusher(), np.zeros(1, np.float32), np.ones(1, np.float32))
        env.reset()
        env.step(np.array([0.5], dtype=np.float32))
    assert log.only("step").action[0] == 0.5
    assert (log.only("new").facts["action_low"], log.only("new").facts["action_high"]) == ([0.0], [1.0])


def test_classes_defined_before_and_after():
    class Late(Counter):
        def step(self, action):
            obs, reward, *rest = super().step(action)
            return obs, reward * 10, *rest

    with watched() as log:

        class Later(Late):
            def reset(self, **kwargs):
                obs, info = super().reset(**kwargs)
                self.step(0)  # part of the reset
                return obs, info

        for cls in (Late, Later):
            env = cls()
            env.reset()
            env.step(action=1)  # by keyword
    assert log.whats() == "new reset step new reset step"
    assert [each.reward for each in log.all("step")] == [10.0, 20.0]


def test_base_that_keeps_its_subclasses_to_itself():
    with watched() as log:

        class Plugin(gym.Env):
            def __init_subclass__(cls, **kwargs):
                pass

        class Mine(Plugin):
            def reset(self, *, seed=None, options=None):
                return 0, {}

            def step(self, action):
                return 1, 1.0, False, False, {}

        env = Mine()
        env.reset()
        env.step(0)
    assert log.whats() == "new reset step"
    assert log.only("new").kind == "gymnasium"


def test_everything_is_put_back():
    before = {name: vars(Counter)[name] for name in ("step", "reset")}
    build = builtins.__build_class__
    finders = list(sys.meta_path)
    with watched():
        assert Counter.step is not before["step"]
        assert inspect.signature(Counter.step) == inspect.signature(before["step"])
    assert {name: vars(Counter)[name] for name in before} == before
    assert "__init_subclass__" not in vars(gym.Env)
    assert builtins.__build_class__ is build
    assert sys.meta_path == finders


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_vector_environment(mode):
    with watched() as log:
        env = SyncVectorEnv([lambda: Counter(2), lambda: Counter(3)], autoreset_mode=mode)
        env.reset(seed=3)
        env.step(np.array([0, 1]))
        _, _, done, _, _ = env.step(np.array([1, 2]))
        if mode is AutoresetMode.DISABLED:
            env.reset(options={"reset_mask": done})
        env.step(np.array([0, 0]))
    new, steps = log.only("new"), log.all("step")
    assert (new.kind, new.lanes, new.autoreset) == ("gymnasium-vector", 2, mode.name.lower().replace("_", "-"))
    assert new.facts["class"] == "Counter"
    assert log.all("reset")[0].seed == 3
    np.testing.assert_array_equal(steps[1].action, [1, 2])
    np.testing.assert_array_equal(steps[1].terminated, [True, False])
    if mode is AutoresetMode.SAME_STEP:
        assert steps[0].final is None
        np.testing.assert_array_equal(steps[1].final[0], [2, 1])
        assert steps[1].final[1] is None
        np.testing.assert_array_equal(steps[1].obs[0], [0, 2])
    else:
        assert all(each.final is None for each in steps)
    if mode is AutoresetMode.DISABLED:
        np.testing.assert_array_equal(log.all("reset")[1].mask, [True, False])
    assert len(steps) == 3


def test_vector_of_one_hands_over_one():
    with watched() as log:
        env = SyncVectorEnv([lambda: Counter(1)], autoreset_mode=AutoresetMode.SAME_STEP)
        env.reset()
        env.step(np.array([2]))
    step = log.only("step")
    assert log.only("reset").obs.shape == step.obs.shape == (2,)
    assert (step.action, step.reward, step.terminated, step.truncated) == (2, 1.0, True, False)
    np.testing.assert_array_equal(step.final[0], [1, 1])


def test_tensors_of_a_vector_environment():
    with watched() as log:

        class Tensors(gym.vector.VectorWrapper):
            def reset(self, **kwargs):
                obs, info = self.env.reset(**kwargs)
                return torch.as_tensor(obs), info

            def step(self, actions):
                *arrays, info = self.env.step(actions.numpy())
                return *map(torch.as_tensor, arrays), info

        env = Tensors(SyncVectorEnv([Counter, Counter]))
        obs, _ = env.reset()
        env.step(obs[:, 0].long())
    assert isinstance(log.only("step").obs, np.ndarray)
    np.testing.assert_array_equal(log.only("step").action, [0, 0])


def test_autoreset_wrapper():
    with watched() as log:
        env = Autoreset(Counter(1))
        env.reset()
        env.step(0)
        env.step(0)
    assert log.only("new").autoreset == "next-step"
    assert log.whats() == "new reset step step"


def test_final_observation_in_the_info_of_a_wrapper():
    with watched() as log:

        class Restart(gym.Wrapper):
            def step(self, action):
                obs, reward, terminated, truncated, info = self.env.step(action)
                if terminated or truncated:
                    info["final_observation"] = obs
                    obs, _ = self.env.reset()
                return obs, reward, terminated, truncated, info

        env = Restart(Counter(1))
        env.reset()
        env.step(0)
    np.testing.assert_array_equal(log.only("step").final[0], [1, 1])
    np.testing.assert_array_equal(log.only("step").obs, [0, 2])


def test_who_resets_itself():
    with watched() as log:

        class AtOnce(gym.Wrapper):
            def step(self, action):
                obs, reward, terminated, truncated, info = self.env.step(action)
                if terminated:
                    obs, _ = self.env.reset()
                return obs, reward, terminated, truncated, info

        class StepLater(gym.Wrapper):
            over = False

            def step(self, action):
                if self.over:
                    self.over = False
                    return self.env.reset()[0], 0.0, False, False, {}
                obs, reward, self.over, truncated, info = self.env.step(action)
                return obs, reward, self.over, truncated, info

        for wrapper in (AtOnce, StepLater, gym.Wrapper):
            env = wrapper(Counter(2))
            env.reset()
            for _ in range(5):
                done = env.step(0)[2]
                if done and wrapper is gym.Wrapper:
                    env.reset()
    assert [each.facts.get("resets_itself") for each in log.all("new")] == [True, None, None]


def test_flags_that_are_arrays():
    with watched() as log:

        class Team(Counter):
            def step(self, action):
                obs, reward, terminated, _, info = super().step(action)
                return obs, reward, np.array([terminated, False]), np.array([False, False]), info

        env = Team()
        env.reset()
        for _ in range(3):
            env.step(0)
    assert [each.terminated for each in log.all("step")] == [False, False, False]  # of one, not of all


def test_dict_and_tuple_observations():
    with watched() as log:

        class Parts(gym.Env):
            observation_space = gym.spaces.Dict(
                {"a": gym.spaces.Box(0, 1, (2,)), "b": gym.spaces.Tuple([gym.spaces.Discrete(3)] * 2)}
            )
            action_space = gym.spaces.Discrete(2)

            def reset(self, *, seed=None, options=None):
                return {"a": np.zeros(2, np.float32), "b": (1, 2)}, {}

            def step(self, action):
                return {"a": np.ones(2, np.float32), "b": (0, 1)}, 1, False, False, {}

        env = Parts()
        env.reset()
        env.step(1)
        vector = SyncVectorEnv([Parts, Parts])
        vector.reset()
        vector.step(np.array([0, 1]))
    single, many = log.all("step")
    assert single.obs["b"] == (0, 1)
    assert [each["b"] for each in many.obs] == [(0, 1), (0, 1)]  # one for each lane
    np.testing.assert_array_equal(many.obs[1]["a"], [1, 1])


def test_old_four_of_a_gymnasium_class():
    with watched() as log:

        class Old(gym.Env):
            def reset(self):
                return np.zeros(3)

            def step(self, action):
                return np.ones(3), 2, True, {"TimeLimit.truncated": True}

        env = Old()
        env.reset()
        env.step(0)
    step = log.only("step")
    assert (step.reward, step.terminated, step.truncated) == (2.0, False, True)
    assert log.only("new").facts["api"] == "4-tuple"
    np.testing.assert_array_equal(log.only("reset").obs, np.zeros(3))


def test_step_async_and_wait():
    with watched() as log:
        env = AsyncVectorEnv([Counter, Counter], context="fork")
        try:
            env.reset_async(seed=[4, 5])
            env.reset_wait()
            env.step_async(np.array([1, 2]))
            env.step_wait()
            env.step(np.array([0, 0]))
        finally:
            env.close()
    assert log.whats() == "new reset step step"
    assert log.only("reset").seed == [4, 5]
    assert [each.action.tolist() for each in log.all("step")] == [[1, 2], [0, 0]]


def test_sent_elsewhere_it_needs_nothing_of_ours():
    program = (
        "import pickle, sys; sys.modules['rldebug'] = None\n"
        "env = pickle.load(sys.stdin.buffer); env.reset(); print(env.step(0)[1])"
    )
    with watched():
        namespace = {"__name__": "__main__", "gym": gym, "np": np}
        exec(inspect.getsource(Counter), namespace)  # a class of the program itself is sent with its code
        sent = cloudpickle.dumps(namespace["Counter"]())
        assert namespace["Counter"].step.__wrapped__
    done = subprocess.run([sys.executable, "-I", "-c", program], input=sent, capture_output=True, check=False)
    assert (done.stdout.strip(), done.returncode) == (b"1.0", 0), done.stderr


def test_copies_and_checks():
    with watched() as log:
        env = Counter()
        env.reset()
        copy.deepcopy(env).step(0)
        pickle.loads(pickle.dumps(env)).step(0)
        with pytest.warns(UserWarning, match="infinity"):  # the environment's own
            check_env(gym.make("CartPole-v1").unwrapped, skip_render_check=True)
    assert len({each.env for each in log.all("step")[:2]}) == 2


def test_error_of_the_environment_passes_and_watching_goes_on():
    with watched() as log:

        class Broken(Counter):
            def step(self, action):
                if action == 1:
                    raise RuntimeError("the simulator fell over")
                return super().step(action)

        env = Broken()
        env.reset()
        with pytest.raises(RuntimeError, match="fell over"):
            env.step(1)
        env.step(0)
    assert log.whats() == "new reset step"


def test_error_of_the_log_stays_with_us():
    with watched() as log:
        env = Counter()
        env.reset()
        env.step(0)
        log.step = lambda *args: 1 / 0
        assert env.step(0)[1] == 2.0
        assert "ZeroDivisionError" in log.switch.broken.pop("capture/environments")
        env.reset()
    assert log.whats() == "new reset step"


def test_threads_do_not_silence_one_another():
    inside, leave = threading.Event(), threading.Event()
    with watched() as log:

        class Slow(Counter):
            def step(self, action):
                inside.set()
                assert leave.wait(5)
                return super().step(action)

        slow, quick = Slow(), Counter()
        slow.reset()
        quick.reset()
        thread = threading.Thread(target=slow.step, args=(0,))
        thread.start()
        assert inside.wait(5)
        quick.step(0)
        leave.set()
        thread.join()
    assert [each.env for each in log.all("step")] == [id(quick), id(slow)]


def test_forked_child_tells_nothing():
    with watched() as log:
        env = Counter()
        env.reset()

        def child(said):
            env.step(0)
            said.put(log.whats())

        context = multiprocessing.get_context("fork")
        said = context.SimpleQueue()
        process = context.Process(target=child, args=(said,))
        process.start()
        process.join(10)
        assert said.get() == "new reset"


def test_environments_are_not_kept_alive():
    with watched():
        env = Counter()
        env.reset()
        env.step(0)
        alive = weakref.ref(env)
        del env
        assert alive() is None


def test_gymnasium_is_not_imported_for_a_program():
    program = (
        "import sys, types\n"
        "from rldebug.capture.switch import Switchboard\n"
        "from rldebug.capture import environments\n"
        "log = types.SimpleNamespace(new=lambda *a: print('new', a[4]['id']), reset=lambda *a: print('reset'))\n"
        "switch = Switchboard(); environments.install(switch, log)\n"
        "assert 'gymnasium' not in sys.modules\n"
        "import gymnasium\n"
        "assert type(gymnasium.core.__loader__).__name__ == 'SourceFileLoader'\n"
        "assert 'exec_module' not in vars(gymnasium.core.__loader__)\n"
        "gymnasium.make('CartPole-v1').reset()\n"
        "assert not switch.broken, switch.broken"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["new CartPole-v1", "reset"], done.stderr
