"""What holds for every reference algorithm: it repeats, resumes, stops when asked, and rldebug finds nothing in it."""

import functools
import inspect
import json
import os
import signal
from pathlib import Path

import gymnasium as gym
import pytest
import torch

import rldebug
from rldebug.checkpoint import TrainingError
from rldebug.train import find, names

# Small enough for a second; what is not named here is the algorithm's own.
SMALL = {
    "a2c": {"envs": 2, "hidden": (16,)},
    "dqn": {"hidden": (16,), "learning_starts": 64, "buffer": 2_000, "train_every": 8},
    "ppo": {"envs": 2, "steps": 32, "epochs": 2, "minibatch": 32, "hidden": (16,)},
    "sac": {"hidden": (16,), "learning_starts": 64, "buffer": 2_000, "batch": 16, "train_every": 8},
    "trpo": {"envs": 2, "steps": 64, "hidden": (16,)},
    "vpg": {"envs": 2, "steps": 64, "hidden": (16,)},
}
ENV = {"sac": "Pendulum-v1"}
ITERATIONS = 4


def go(algorithm, folder, *, iterations=ITERATIONS, **options):
    """A short run, of so many rounds of whatever length the algorithm's are. Its last checkpoint and its summary."""
    steps = iterations * steps_of(algorithm)
    common = {"settings": SMALL[algorithm], "quiet": True, "episodes": 2, "seed": 3}
    trained = rldebug.train(
        algorithm, ENV.get(algorithm, "CartPole-v1"), steps=steps, folder=folder, **{**common, **options}
    )
    return torch.load(folder / "checkpoint.pt", weights_only=True), trained.summary


_LENGTHS: dict[str, int] = {}


def steps_of(algorithm):
    if algorithm not in _LENGTHS:
        seen = []
        real = rldebug.training.Training.iterations
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                rldebug.training.Training, "iterations", lambda self, each: (seen.append(each), real(self, each))[1]
            )
            name = ENV.get(algorithm, "CartPole-v1")
            rldebug.train(algorithm, name, steps=1, settings=SMALL[algorithm], quiet=True, episodes=1)
        _LENGTHS[algorithm] = seen[0]
    return _LENGTHS[algorithm]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """What `go` gives for a run of an algorithm that nothing interrupts and nobody watches, and its folder. Made once,
    for all tests that compare another run with it."""

    @functools.cache
    def made(algorithm):
        folder = tmp_path_factory.mktemp(algorithm)
        return *go(algorithm, folder), folder

    return made


def same(one, other):
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other or (one != one and other != other)


def test_every_algorithm_is_tested_here():
    assert sorted(SMALL) == names()


@pytest.mark.parametrize("algorithm", sorted(SMALL))
def test_the_same_seed_gives_the_same_weights_and_another_seed_does_not(algorithm, whole, tmp_path):
    one, _, _ = whole(algorithm)
    two, _ = go(algorithm, tmp_path / "two")
    other, _ = go(algorithm, tmp_path / "other", seed=4)
    assert same(one, two)
    assert not same(one["kept"], other["kept"])


@pytest.mark.parametrize("algorithm", sorted(SMALL))
def test_a_resumed_run_ends_where_the_uninterrupted_one_does(algorithm, whole, tmp_path, monkeypatch):
    uninterrupted, _, _ = whole(algorithm)
    stop_after(monkeypatch, 2)
    half, summary = go(algorithm, tmp_path / "half")
    assert summary.interrupted
    assert half["iteration"] == 2
    monkeypatch.undo()
    torch.manual_seed(99)  # a process of its own would not have this one's random numbers
    resumed, _ = go(algorithm, tmp_path / "half", resume=tmp_path / "half")
    assert same(uninterrupted, resumed)


def stop_after(monkeypatch, iterations):
    """Ctrl-C in the middle of an iteration: the signal that a terminal sends, to this process."""
    real = rldebug.training.Training.log

    def log(self, **numbers):
        if self.iteration + 1 == iterations:
            os.kill(os.getpid(), signal.SIGINT)
        real(self, **numbers)

    monkeypatch.setattr(rldebug.training.Training, "log", log)


@pytest.mark.parametrize("algorithm", sorted(SMALL))
def test_a_recorded_run_is_clean_and_bit_identical(algorithm, whole, tmp_path):
    bare, _, _ = whole(algorithm)
    watched, _ = go(algorithm, tmp_path / "watched", record=True)
    assert same(bare, watched)
    folder = next(Path(".rldebug/runs").iterdir())
    report = rldebug.diagnose([rldebug.read_run(folder)])
    assert [f"{each.code} {each.message}" for each in report.findings if each.severity != "note"] == []
    assert report.broken == {}
    assert len(rldebug.read_run(folder).readings) > 1


@pytest.mark.parametrize("algorithm", sorted(SMALL))
def test_progress_is_written_for_every_iteration(algorithm, whole):
    _, summary, folder = whole(algorithm)
    lines = [json.loads(line) for line in (folder / "progress.jsonl").read_text().splitlines()]
    assert [each["iteration"] for each in lines] == list(range(1, ITERATIONS + 1))
    assert lines[-1]["steps"] == summary.steps == ITERATIONS * steps_of(algorithm)
    assert summary.random is not None
    assert len(summary.greedy) == 2


@pytest.mark.parametrize("algorithm", sorted(SMALL))
def test_it_can_be_read_in_one_sitting(algorithm):
    assert len(inspect.getsource(find(algorithm)).splitlines()) <= 350


@pytest.mark.parametrize("algorithm", sorted(SMALL))
def test_it_trains_on_an_environment_of_ones_own(algorithm, tmp_path):
    def mine():
        return gym.make(ENV.get(algorithm, "CartPole-v1"), max_episode_steps=20)

    trained = rldebug.train(
        algorithm, mine, steps=steps_of(algorithm), settings=SMALL[algorithm], quiet=True, episodes=3
    )
    assert len(trained.summary.greedy) == 3
    assert trained.summary.env_id == "mine"


def test_an_unknown_algorithm_is_answered_with_those_there_are():
    with pytest.raises(TrainingError, match="no algorithm called pp0: expected one of a2c, dqn, ppo"):
        rldebug.train("pp0", "CartPole-v1")
