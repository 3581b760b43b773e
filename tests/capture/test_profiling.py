"""All that a profile watches, in this process. What depends on the clock is set to happen at once."""

import json
import os
import signal
import sys
import threading

import gymnasium as gym
import pytest
import torch
from torch import nn

from rldebug.capture import stopwatch as stopwatch_module
from rldebug.capture.profiling import Profiling
from rldebug.capture.switch import Switchboard
from rldebug.evidence.timings.reading import read_timing


def trains(updates=40):
    env = gym.make("CartPole-v1")
    net = nn.Linear(4, 2)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    memory = []
    obs, _ = env.reset(seed=0)
    for _ in range(updates):
        for _ in range(5):
            logits = net(torch.as_tensor(obs))
            obs, reward, terminated, truncated, _ = env.step(int(logits.argmax()))
            memory.append(reward)
            if terminated or truncated:
                obs, _ = env.reset(seed=1)
        optimizer.zero_grad()
        net(torch.randn(64, 4)).square().mean().backward()
        optimizer.step()
    return net


def profiled(folder, work, **options):
    profiling, switch = Profiling(folder), Switchboard()
    try:
        profiling.install(switch, **options)
        work()
    finally:
        profiling.finish()
        switch.undo()
    assert not switch.broken, "\n".join(switch.broken.values())
    return profiling


def test_a_run_is_told_from_end_to_end(tmp_path):
    before = torch.autograd.backward
    profiling = profiled(tmp_path, lambda: trains(150))
    assert torch.autograd.backward is before
    timing = read_timing(tmp_path)
    assert timing.problems == ()
    assert not profiling.stopwatch.broken
    assert (timing.env_steps, timing.updates) == (750, 150)
    assert timing.phases == 150
    assert timing.host.threads == torch.get_num_threads()
    assert timing.host.cores >= 1
    (network,) = [each for each in timing.networks if each.name == "net"]
    assert (network.parameters, network.optimizer) == (10, "Adam")
    assert timing.kept  # one update was looked at closely
    assert all(each.spot.file.endswith("test_profiling.py") for each in timing.kept)
    assert timing.windows
    assert sum(each.updates for each in timing.windows) == 150
    assert sum(timing.parts.values()) == pytest.approx(timing.seconds)


def test_one_that_is_killed_leaves_what_was_written_last(tmp_path, monkeypatch):
    """In a process of its own, which ends as by kill -9: nothing of ours is called any more."""
    monkeypatch.setattr(stopwatch_module, "_WINDOW", 0.02)
    monkeypatch.setattr(stopwatch_module, "_WRITE_EVERY", 0.05)
    pid = os.fork()
    if pid == 0:
        profiling, switch = Profiling(tmp_path), Switchboard()
        profiling.install(switch)
        while not (tmp_path / "timing.json").exists():
            trains(5)
        trains(5)
        os.kill(os.getpid(), signal.SIGKILL)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
    timing = read_timing(tmp_path)
    assert timing.env_steps > 0
    assert timing.windows
    assert json.loads((tmp_path / "timing.json").read_text())["end"] > 0


def test_it_may_be_ended_by_another_thread(tmp_path):
    """As os._exit() does, wherever it is called."""
    profiling, switch = Profiling(tmp_path), Switchboard()
    profiling.install(switch)
    trains(60)
    thread = threading.Thread(target=profiling.finish)
    thread.start()
    thread.join()
    switch.undo()
    signal.signal(profiling.stopwatch.sampler._signal, signal.SIG_IGN)
    assert read_timing(tmp_path).updates == 60


def test_a_program_that_ends_in_the_middle_of_a_look(tmp_path):
    def fails():
        trains(15)  # updates 12 to 15 are looked at for waits, 16 to 20 for launches
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        profiled(tmp_path, fails)
    assert read_timing(tmp_path).updates == 15
    assert not torch.is_anomaly_enabled()


def test_a_folder_that_is_gone_is_named_and_the_program_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(stopwatch_module, "_WINDOW", 0.0)
    monkeypatch.setattr(stopwatch_module, "_WRITE_EVERY", 0.0)
    profiling = profiled(tmp_path / "gone", lambda: trains(100))
    assert "FileNotFoundError" in profiling.stopwatch.broken["capture/writing"]
    assert profiling.stopwatch.counts["updates"] == 100
    assert profiling.stopwatch.sampler.spent > 0
    assert "capture/stopwatch" not in profiling.stopwatch.broken


def test_a_program_that_recurses_as_deep_as_it_may(tmp_path):
    """What is too deep for us is no matter of the program's, nor the end of the profile."""
    profiling = Profiling(tmp_path)
    sampler = profiling.stopwatch.sampler
    sampler._running = True
    tried = []

    def down():
        try:
            down()
        except RecursionError:
            # From here on it is one call deeper than there is room for, then two, and so on.
            tried.append(len(tried))
            sampler._interrupted(0, sys._getframe())

    down()
    assert len(tried) > 1
    assert profiling.stopwatch.broken == {}
    assert sampler._running


def test_memory_is_looked_at_after_a_while(tmp_path, monkeypatch):
    monkeypatch.setattr("rldebug.capture.profiling._LOOK_AT_MEMORY", 0.0)
    monkeypatch.setattr("rldebug.capture.held._SECONDS", 60.0)  # a slow machine sees as much
    monkeypatch.setattr("rldebug.capture.held.is_users", lambda file: file == __file__)  # not all other tests
    monkeypatch.setattr(stopwatch_module, "_WINDOW", 0.02)
    profiled(tmp_path, lambda: trains(1500))
    assert "memory" in {each.name for each in read_timing(tmp_path).held}
