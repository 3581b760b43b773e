"""The light hooks around programs of a few lines; no sampler runs."""

import inspect
import os
from contextlib import contextmanager
from types import SimpleNamespace

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import nn
from torch.optim import optimizer as of_torch

from rldebug.capture import stopwatch as stopwatch_module
from rldebug.capture.paced import Paced, PacedLog, networks_in_reach
from rldebug.capture.stopwatch import Stopwatch
from rldebug.capture.switch import Switchboard


@contextmanager
def pacing(folder, **options):
    watch, switch = Stopwatch(folder), Switchboard()
    watch.happenings = []
    happened = watch.happened

    def remember(kind, env=-1):
        watch.happenings.append(kind)
        happened(kind, env)

    watch.happened = remember
    watch.paced = Paced(watch, switch, **options)
    try:
        yield watch
    finally:
        switch.undo()
    watch.count_steps()
    assert not switch.broken, "\n".join(switch.broken.values())
    assert not watch.broken, "\n".join(watch.broken.values())


def only(watch):
    (found,) = watch.environments
    return found


# ── environments ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_steps_and_episodes_of_one_environment(tmp_path):
    with pacing(tmp_path) as watch:
        env = gym.make("CartPole-v1", max_episode_steps=7)
        for _ in range(3):
            env.reset(seed=0)
            for step in range(7):
                env.step(step % 2)
    found = only(watch)
    assert (found["name"], found["spec"], found["lanes"], found["workers"]) == ("CartPole-v1", "CartPole-v1", 1, 0)
    assert (found["steps"], found["calls"], found["episodes"], found["first_update"]) == (21, 21, 3, 0)
    assert watch.counts["env_steps"] == 21
    assert watch.happenings == ["reset", "step"] * 3  # a step after another is only counted
    assert found["created"][1] == inspect.getsourcelines(test_steps_and_episodes_of_one_environment)[1] + 2


@pytest.mark.parametrize("lanes", [1, 3])
def test_a_vector_counts_its_lanes(lanes, tmp_path):
    with pacing(tmp_path) as watch:
        envs = gym.make_vec("CartPole-v1", lanes, vectorization_mode="sync", max_episode_steps=4)
        envs.reset(seed=0)
        for _ in range(9):  # four steps, and one that resets
            envs.step(np.zeros(lanes, dtype=int))
    found = only(watch)
    assert (found["lanes"], found["calls"], found["steps"]) == (lanes, 9, 9 * lanes)
    assert found["episodes"] == 2 * lanes - (lanes if found["episodes"] < 2 * lanes else 0)
    assert found["episodes"] > 0
    assert watch.counts["env_steps"] == 9 * lanes


def test_workers_of_a_vector_are_counted_and_what_they_do_is_not(tmp_path):
    with pacing(tmp_path) as watch:
        envs = gym.vector.AsyncVectorEnv([lambda: gym.make("CartPole-v1")] * 2, context="fork")
        try:
            envs.reset(seed=0)
            envs.step(np.zeros(2, dtype=int))
            envs.step_async(np.zeros(2, dtype=int))
            envs.step_wait()
        finally:
            envs.close()
    found = only(watch)
    assert (found["lanes"], found["workers"], found["calls"], found["steps"]) == (2, 2, 2, 4)
    assert watch.happenings == ["reset", "step", "step"]


@pytest.mark.parametrize(
    ("result", "episodes"),
    [
        ((0.0, 1.0, True, False, {}), 3),
        ((0.0, 1.0, False, np.bool_(True), {}), 3),
        ((0.0, 1.0, False, {}), 0),
        ([np.zeros(2), 1.0, True, {}], 3),
        ((np.zeros((2, 3)), np.zeros(2), np.array([True, False]), np.zeros(2, bool), {}), 3),
        ((np.zeros((2, 3)), np.zeros(2), torch.tensor([True, True]), [{}, {}]), 6),
    ],
)
def test_whatever_a_step_returns(result, episodes, tmp_path):
    with pacing(tmp_path) as watch:

        class Own:
            def reset(self):
                return np.zeros(2)

            def step(self, action):
                return result

        env = Own()
        env.reset()
        for _ in range(3):
            assert env.step(0) is result
    found = only(watch)
    assert (found["name"], found["calls"], found["episodes"]) == ("Own", 3, episodes)
    assert found["steps"] == 3 * found["lanes"]


def test_a_flag_that_says_that_the_episode_goes_on(tmp_path):
    with pacing(tmp_path) as watch:

        class Open:
            def reset(self):
                self.t = 0
                return np.zeros(2)

            def step(self, action):
                self.t += 1
                return np.zeros(2), 1.0, self.t < 4

        env = Open()
        for _ in range(2):
            env.reset()
            while env.step(0)[2]:
                pass
    found = only(watch)
    assert (found["calls"], found["episodes"]) == (7, 2), "the very first step said what its flag means"


def test_what_a_step_returns_may_change(tmp_path):
    """Whatever is wrong in our counting, the program does not see it."""
    results = [(np.zeros(2), 1.0, False, False, {})] * 2 + [None, 7, (np.zeros(2), 1.0, np.ones(3), "no", {})]
    with pacing(tmp_path) as watch:

        class Odd(gym.Env):
            def reset(self, *, seed=None, options=None):
                return np.zeros(2), {}

            def step(self, action):
                return results[action]

        env = Odd()
        env.reset()
        for action, result in enumerate(results):
            assert env.step(action) is result
    assert only(watch)["calls"] >= 2


def test_what_the_environment_answers_is_not_asked_for(tmp_path):
    asked = []

    class Shy(gym.Env):
        observation_space = gym.spaces.Box(-1, 1, (2,), np.float32)
        action_space = gym.spaces.Discrete(2)

        @property
        def render_mode(self):
            asked.append("render_mode")
            raise RuntimeError("no display")

        def __getattr__(self, name):
            asked.append(name)
            raise RuntimeError(name)

        def reset(self, *, seed=None, options=None):
            return np.zeros(2, np.float32), {}

        def step(self, action):
            return np.zeros(2, np.float32), 0.0, False, False, {}

    with pacing(tmp_path) as watch:
        env = Shy()
        env.reset()
        env.step(0)
        env.step(0)
    assert only(watch)["calls"] == 2
    assert asked == []


def test_more_environments_than_are_told_apart(tmp_path, monkeypatch):
    monkeypatch.setattr(stopwatch_module, "_ENVS", 2)
    with pacing(tmp_path) as watch:
        for name in ("CartPole-v1", "Acrobot-v1", "CartPole-v1", "MountainCar-v0"):
            env = gym.make(name)
            env.reset(seed=0)
            env.step(0)
    assert [(each["name"], each["calls"]) for each in watch.environments] == [("CartPole-v1", 2), ("Acrobot-v1", 1)]
    assert watch.counts["env_steps"] == 4


def test_one_more_that_is_like_another_counts_as_it(tmp_path, monkeypatch):
    monkeypatch.setattr(stopwatch_module, "_ENVS", 2)
    with pacing(tmp_path) as watch:
        for _ in range(5):
            env = gym.make("CartPole-v1")
            env.reset(seed=0)
            env.step(0)
    assert [each["calls"] for each in watch.environments] == [1, 4]


# ── losses and optimizers ───────────────────────────────────────────────────────────────────────────────────────────


def test_backward_grad_and_updates_are_told(tmp_path):
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with pacing(tmp_path, environments=False) as watch:
        for _ in range(2):
            net(torch.ones(1, 2)).sum().backward()
            optimizer.step()
        torch.autograd.grad(net(torch.ones(1, 2)).sum(), net.parameters())
        torch.autograd.backward([net(torch.ones(1, 2)).sum()])
    assert watch.happenings == ["backward", "update"] * 2 + ["backward"] * 2
    assert watch.counts == {"env_steps": 0, "updates": 2, "phases": 0}


def test_everything_is_put_back(tmp_path):
    before = (torch.autograd.backward, torch.autograd.grad, gym.Env.step, gym.Wrapper.step, gym.Wrapper.__init__)
    hooks = len(of_torch._global_optimizer_pre_hooks), len(of_torch._global_optimizer_post_hooks)
    with pacing(tmp_path, tick=lambda: 0.0):
        assert torch.autograd.backward is not before[0]
        assert torch.autograd.grad.__name__ == "grad"
        assert inspect.signature(torch.autograd.backward) == inspect.signature(before[0])
        assert len(of_torch._global_optimizer_post_hooks) > hooks[1]
    after = (torch.autograd.backward, torch.autograd.grad, gym.Env.step, gym.Wrapper.step, gym.Wrapper.__init__)
    assert all(one is two for one, two in zip(before, after, strict=True))
    assert (len(of_torch._global_optimizer_pre_hooks), len(of_torch._global_optimizer_post_hooks)) == hooks


def test_one_that_was_undone_hears_no_more(tmp_path):
    optimizer = torch.optim.SGD(nn.Linear(1, 1).parameters(), lr=0.1)
    with pacing(tmp_path, environments=False) as first:
        optimizer.step()
    with pacing(tmp_path, environments=False) as second:
        optimizer.step()
        optimizer.step()
    assert (first.counts["updates"], second.counts["updates"]) == (1, 2)


def test_what_backward_raises_comes_out_as_it_is(tmp_path):
    with pacing(tmp_path, environments=False), pytest.raises(RuntimeError, match="does not require grad"):
        torch.zeros(()).backward()


def test_looks_begin_before_an_update_and_end_after_it(tmp_path):
    net = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    said = []
    with pacing(tmp_path, environments=False) as watch:
        watch.paced.around(2, lambda: said.append("begin"), lambda: said.append("end"))
        watch.paced.around(3, lambda: said.append("begin 3"), lambda: said.append("end 3"))
        for update in range(1, 5):
            said.append(update)
            net(torch.ones(1, 1)).sum().backward()
            optimizer.step()
    assert said == [1, "begin", 2, "end", "begin 3", 3, "end 3", 4]


def test_a_look_that_fails_is_named_and_the_program_goes_on(tmp_path):
    net = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with pacing(tmp_path, environments=False) as watch:
        watch.paced.around(1, lambda: 0, lambda: 1 / 0)
        watch.paced.around(2, lambda: 0, lambda: 1 / 0)
        for _ in range(3):
            optimizer.step()
        assert "ZeroDivisionError" in watch.broken.pop("capture/looking at an update")
    assert watch.counts["updates"] == 3


def test_a_forked_process_counts_for_itself_alone(tmp_path):
    net = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with pacing(tmp_path, environments=False) as watch:
        watch.paced.around(2, lambda: os._exit(7), lambda: None)
        os.register_at_fork(after_in_child=watch._in_child)
        pid = os.fork()
        if pid == 0:
            try:
                for _ in range(3):
                    optimizer.step()
            finally:
                os._exit(0 if watch.counts["updates"] == 0 else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


# ── networks ────────────────────────────────────────────────────────────────────────────────────────────────────────


def names():
    """Of the networks that are in reach of the caller; what the tests' own modules hold is left out."""
    return sorted(name for name, _ in networks_in_reach())


class Agent:
    def __init__(self):
        self.actor = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
        self.critics = [nn.Linear(2, 1), nn.Linear(2, 1)]
        self.heads = {"policy": nn.Linear(2, 2), 3: nn.Linear(2, 1), Agent: nn.Linear(1, 1)}
        self.body = self.actor[0]  # a part of another
        self.nothing = nn.Tanh()
        self.cls = nn.Linear

    def learns(self):
        return names()


def test_networks_are_named_as_the_program_names_them():
    online = nn.Linear(2, 2)
    target = nn.Linear(2, 2).requires_grad_(False)  # an optimizer owns none of it
    agent = Agent()
    assert online is not target
    expected = ["actor", "critics[0]", "critics[1]", "heads['policy']", "heads[3]", "heads[type]"]
    found = agent.learns()
    assert set(expected) <= set(found)
    assert {"online", "target"} <= set(found)
    assert not [each for each in found if "body" in each or "nothing" in each or "cls" in each]
    assert not [each for each in found if each.startswith("agent.")]  # found as `self` first, and told once


def test_a_program_that_is_all_globals(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "__main__", SimpleNamespace(policy_of_main=nn.Linear(1, 1)))
    assert "policy_of_main" in names()


def test_nothing_of_the_programs_is_called_when_networks_are_looked_for(tmp_path):
    called = []

    class Proud(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(3, 2)

        def parameters(self, recurse=True):
            called.append("parameters")
            raise RuntimeError("mine")

        def modules(self):
            called.append("modules")
            raise RuntimeError("mine")

    class Key:
        def __repr__(self):
            called.append("repr")
            raise RuntimeError("mine")

    class Box:
        def __init__(self):
            self.proud = proud

        @property
        def network(self):
            called.append("network")
            raise RuntimeError("mine")

        def __getattr__(self, name):
            called.append(name)
            raise RuntimeError("mine")

        def __iter__(self):
            called.append("iter")
            raise RuntimeError("mine")

        def __bool__(self):
            called.append("bool")
            raise RuntimeError("mine")

    proud = Proud()
    lazy = nn.LazyLinear(2)
    keyed = {Key(): nn.Linear(1, 1)}
    box = Box()
    optimizer = torch.optim.Adam(proud.inner.parameters(), lr=0.1)
    with pacing(tmp_path, environments=False) as watch:
        for _ in range(3):
            proud.inner(torch.ones(1, 3)).sum().backward()
            optimizer.step()
    assert called == []
    assert (lazy, keyed, box) != ()
    found = {each["name"]: each for each in watch.facts["networks"]}
    assert found["proud"] == {
        "name": "proud",
        "shapes": [[2, 3], [2]],
        "dtype": "float32",
        "device": "cpu",
        "optimizer": "Adam",
        "gradient_bytes": 32,
        "optimizer_bytes": 2 * 32 + 2 * 4,  # two moments, and for each parameter its count of steps
    }
    assert found["keyed[Key]"]["optimizer"] == ""
    assert "lazy" not in found


def test_networks_are_looked_for_again_when_another_optimizer_comes(tmp_path):
    first = nn.Linear(1, 1)
    one = torch.optim.SGD(first.parameters(), lr=0.1)
    with pacing(tmp_path, environments=False) as watch:
        for _ in range(3):
            one.step()
        assert {each["name"]: each["optimizer"] for each in watch.facts["networks"]}["first"] == "SGD"
        later = nn.Linear(1, 1)
        two = torch.optim.Adam(later.parameters(), lr=0.1)
        later(torch.ones(1, 1)).sum().backward()
        two.step()
        one.step()
        found = {each["name"]: each["optimizer"] for each in watch.facts["networks"]}
    assert (found["first"], found["later"]) == ("SGD", "Adam")


# ── in front of another log ─────────────────────────────────────────────────────────────────────────────────────────


class Other:
    steps = 0

    def __init__(self):
        self.said = []

    def new(self, *args):
        self.said.append(("new", args))
        return "stream"

    def reset(self, *args):
        self.said.append(("reset", args))

    def step(self, *args):
        self.said.append(("step", args))

    def quick_step(self, *args):
        self.said.append(("quick_step", args))

    def stream_of(self, env):
        return env


def test_a_log_behind_is_told_everything(tmp_path):
    other, env = Other(), SimpleNamespace()
    watch = Stopwatch(tmp_path)
    log = PacedLog(watch, other)
    assert log.new(env, "gymnasium", 2, "disabled", {"id": "x"}) == "stream"
    log.reset(env, "obs", 1, 2, None)
    flags = np.array([True, False])
    log.step(env, 0, "obs", 1.0, flags, flags, None)
    log.quick_step(env, "stream", 0, "obs", 1.0, flags, flags, None, False)
    assert [what for what, _ in other.said] == ["new", "reset", "step", "quick_step"]
    assert other.said[1] == ("reset", (env, "obs", 1, 2, None))
    assert other.said[3][1][:3] == (env, "stream", 0)
    assert watch.counts["env_steps"] == 4
    assert watch.environments[0]["episodes"] == 2
    assert log.stream_of(3) == 3
    assert not hasattr(log, "light")  # it wants to hear more than that
    with pytest.raises(AttributeError, match="nothing"):
        log.nothing  # noqa: B018


def test_without_one_it_says_so(tmp_path):
    log = PacedLog(Stopwatch(tmp_path))
    assert hasattr(log, "light")
    assert not hasattr(log, "quick_step")
    with pytest.raises(AttributeError, match="stream_of"):
        log.stream_of(1)
    log.reset(SimpleNamespace(), None, None, 1, None)
    log.step(SimpleNamespace(), 0, None, 0.0, False, False, None)  # one that it has not met
    assert log.stopwatch.counts["env_steps"] == 1
