import os

import gymnasium as gym
from torch.optim import optimizer

from rldebug.probes import outside
from rldebug.probes.outside import VARIABLE, RecordedEnv, count_updates, read_step, write_down
from rldebug.probes.shelf import find


def test_what_is_played_is_written_down_and_read_again(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, write_down(tmp_path, gamma=0.5, obs="scalar", action="discrete"))
    env, unused = (gym.make("rldebug.probes:rldebug/ObservedActionReward-v0").unwrapped for _ in range(2))
    assert isinstance(env, RecordedEnv)
    assert env.observation_space.shape == (1,)
    assert env.probe.gamma == 0.5
    env.reset(seed=0)
    _, reward, terminated, *_ = env.step(1)
    env.close()
    assert [each.name for each in tmp_path.glob("*.steps")] == ["0.steps"], "one that is never played has no file"
    assert unused is not env
    step = read_step((tmp_path / "0.steps").read_text(encoding="utf-8").strip(), 7)
    assert (step.env, step.action, step.reward, step.ended, step.allowed) == (7, 1.0, reward, terminated, True)


def test_every_environment_that_is_played_has_a_number_of_its_own(tmp_path):
    envs = [RecordedEnv(find("side-by-side")(), tmp_path) for _ in range(3)]
    for env in envs:
        env.reset()
        env.reset()
    assert sorted(env.index for env in envs) == [0, 1, 2]
    for env in envs:
        env.close()


def test_optimizer_steps_of_the_process_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(outside, "_counting", False)
    handles = []
    monkeypatch.setattr(optimizer, "register_optimizer_step_pre_hook", handles.append)
    RecordedEnv(find("constant-reward")(), tmp_path)
    assert count_updates(tmp_path) == 0
    [each] = handles
    for _ in range(3):
        assert each(None, (), {}) is None
    assert count_updates(tmp_path) == 3
    RecordedEnv(find("constant-reward")(), tmp_path)
    assert len(handles) == 1, "once for a process"
    os.close(each.__closure__[0].cell_contents)
