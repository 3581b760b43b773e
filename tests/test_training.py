"""What all algorithms share: checkpoints that survive, folders that are not overwritten, errors that say what to do."""

import json
from dataclasses import dataclass

import gymnasium as gym
import pytest
import torch
from torch import nn

import rldebug
from rldebug.checkpoint import TrainingError, read_checkpoint
from rldebug.evidence.baseline import Baseline, BaselineError
from rldebug.train import advise_on_threads
from rldebug.training import Training, new_folder


@dataclass(frozen=True)
class Settings:
    lr: float = 0.1


def training(tmp_path, *, steps=40, make=lambda: gym.make("CartPole-v1"), **more):
    options = {"settings": Settings(), "quiet": True, "folder": tmp_path / "run", **more}
    return Training("walk", "CartPole-v1", steps=steps, make=make, **options)


def walk(run, layer):
    """Random actions, and a layer that is pulled about: all an algorithm needs to be saved and resumed."""
    envs = run.envs(2)
    obs = run.begin(layer=layer)
    for _ in run.iterations(10):
        for _ in range(5):
            obs, *_ = envs.step(torch.randint(2, (2,)).numpy())
        with torch.no_grad():
            layer.weight += torch.randn_like(layer.weight) * float(obs.sum())
        run.log(weight=layer.weight.norm())
    return lambda obs: torch.zeros(len(obs), dtype=torch.long).numpy()


def test_the_last_checkpoint_is_of_the_end(tmp_path):
    run, layer = training(tmp_path), nn.Linear(2, 2)
    walk(run, layer)
    state = read_checkpoint(tmp_path / "run")
    assert (state["steps_done"], state["iteration"], state["algorithm"]) == (40, 4, "walk")
    assert torch.equal(state["kept"]["layer"]["weight"], layer.weight)


def test_checkpoints_are_written_as_often_as_asked(tmp_path, monkeypatch):
    saved = []
    monkeypatch.setattr(Training, "save", lambda self: saved.append(self.iteration))
    walk(training(tmp_path, checkpoint_every=2, steps=50), nn.Linear(2, 2))
    assert saved == [2, 4, 5]


def test_a_disk_that_is_full_ends_no_training(tmp_path, monkeypatch, capsys):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(torch, "save", full)
    walk(training(tmp_path), nn.Linear(2, 2))
    assert "the checkpoint could not be written" in capsys.readouterr().err
    assert list((tmp_path / "run").glob("*.unfinished")) == []


def test_a_process_killed_while_saving_leaves_the_old_checkpoint(tmp_path, monkeypatch):
    walk(training(tmp_path), nn.Linear(2, 2))
    before = (tmp_path / "run" / "checkpoint.pt").read_bytes()

    def killed(state, path):
        path.write_bytes(b"half a file")
        raise KeyboardInterrupt

    monkeypatch.setattr(torch, "save", killed)
    with pytest.raises(KeyboardInterrupt):
        walk(training(tmp_path), nn.Linear(2, 2))
    assert (tmp_path / "run" / "checkpoint.pt").read_bytes() == before


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "holds no checkpoint.pt"), (b"", "damaged"), (b"PK\x03\x04rubbish", "damaged")],
    ids=["none", "empty", "rubbish"],
)
def test_what_cannot_be_resumed_says_why(tmp_path, content, said):
    if content is not None:
        (tmp_path / "checkpoint.pt").write_bytes(content)
    with pytest.raises(TrainingError, match=said):
        read_checkpoint(tmp_path)


def test_a_folder_that_is_none(tmp_path):
    with pytest.raises(TrainingError, match="is not a folder"):
        read_checkpoint(tmp_path / "nowhere")


def test_a_checkpoint_of_another_version(tmp_path):
    torch.save({"format": 99}, tmp_path / "checkpoint.pt")
    with pytest.raises(TrainingError, match="is of format 99, expected 1"):
        read_checkpoint(tmp_path)


def test_another_algorithm_or_environment_is_refused_on_resuming(tmp_path):
    rldebug.train(
        "ppo", "CartPole-v1", steps=1, folder=tmp_path, quiet=True, settings={"envs": 1, "steps": 8, "epochs": 1}
    )
    with pytest.raises(TrainingError, match="of ppo, not of a2c"):
        rldebug.train("a2c", resume=tmp_path)
    with pytest.raises(TrainingError, match="on CartPole-v1, not on Acrobot-v1"):
        rldebug.train("ppo", "Acrobot-v1", resume=tmp_path)


def test_folders_are_not_overwritten(tmp_path):
    first = new_folder("ppo", "ALE/Pong-v5", 1, tmp_path)
    first.mkdir()
    assert first.name == "ppo-ALE-Pong-v5-1"
    assert new_folder("ppo", "ALE/Pong-v5", 1, tmp_path).name == "ppo-ALE-Pong-v5-1-2"


def test_the_summary_shows_the_random_policy_and_says_when_nothing_was_learned(tmp_path, capsys):
    values = dict.fromkeys(("median", "length_mean", "best", "worst"), 0.0)
    baseline = Baseline(env_id="CartPole-v1", episodes=20, mean=30.0, low=25.0, high=35.0, steps=9, **values)
    run = training(tmp_path, quiet=False, baseline=lambda: baseline)
    summary = run.close(walk(run, nn.Linear(2, 2)), episodes=4)
    said = capsys.readouterr().err
    assert summary.random is baseline
    assert len(summary.greedy) == 4
    assert baseline.text in said
    assert "no better than random" in said


def test_a_baseline_that_fails_loses_nothing(tmp_path, capsys):
    def fails():
        raise BaselineError("it breaks")

    run = training(tmp_path, baseline=fails)
    assert run.close(walk(run, nn.Linear(2, 2)), episodes=1).random is None
    assert "no random baseline: it breaks" in capsys.readouterr().err


def test_the_evaluation_leaves_no_long_episode_out(tmp_path):
    """One episode in each environment: the first to end are the short ones, and taking those would flatter some."""
    lengths = iter((3, 9, 3, 9))

    def make():
        env = gym.make("Pendulum-v1", max_episode_steps=next(lengths))
        return gym.wrappers.TransformReward(env, lambda _: 1.0)

    run = training(tmp_path, make=make)
    returns = run.evaluate(lambda obs: torch.zeros(len(obs), 1).numpy(), 4)
    assert sorted(returns) == [3, 3, 9, 9]


def test_a_killed_run_leaves_no_line_twice(tmp_path):
    """It went on after its last checkpoint: what came after is played again, and written again."""
    walk(training(tmp_path, steps=20), nn.Linear(2, 2))
    lines = tmp_path / "run" / "progress.jsonl"
    with lines.open("a") as file:
        file.write('{"iteration": 3, "steps": 30}\n')  # after the checkpoint
    resumed = training(tmp_path, steps=40, checkpoint=read_checkpoint(tmp_path / "run"))
    walk(resumed, nn.Linear(2, 2))
    assert [json.loads(line)["iteration"] for line in lines.read_text().splitlines()] == [1, 2, 3, 4]


def test_settings_that_do_not_fit_the_checkpoint(tmp_path):
    walk(training(tmp_path), nn.Linear(2, 2))
    with pytest.raises(TrainingError, match="the checkpoint does not fit: size mismatch for"):
        walk(training(tmp_path, checkpoint=read_checkpoint(tmp_path / "run")), nn.Linear(2, 3))


def test_numbers_that_are_not_finite_are_said_once(tmp_path, capsys):
    run, layer = training(tmp_path), nn.Linear(2, 2)
    with torch.no_grad():
        layer.weight.fill_(torch.nan)
    walk(run, layer)
    assert capsys.readouterr().err.count("weight: not finite, since iteration 1") == 1


def test_a_run_on_what_a_function_made_wants_the_function_again(tmp_path):
    def mine():
        return gym.make("CartPole-v1")

    small = {"envs": 1, "steps": 8, "epochs": 1}
    rldebug.train("ppo", mine, steps=1, folder=str(tmp_path), quiet=True, settings=small)
    with pytest.raises(TrainingError, match="what the function mine makes: pass it as env"):
        rldebug.train("ppo", resume=str(tmp_path), steps=16, quiet=True)
    rldebug.train("ppo", mine, resume=str(tmp_path), steps=16, quiet=True)


def test_an_environment_is_not_what_makes_one():
    with pytest.raises(TrainingError, match="expected what makes one"):
        rldebug.train("ppo", gym.make("CartPole-v1"))


def test_processes_that_share_cores_are_advised(capsys, monkeypatch):
    monkeypatch.setattr("rldebug.parts.distributed._cores", lambda: 2)
    advise_on_threads(2)  # of one thread each, in these tests
    assert capsys.readouterr().err == ""
    advise_on_threads(4)
    assert "4 processes with 1 threads each share 2 cores" in " ".join(capsys.readouterr().err.split())


def test_no_steps_is_refused(tmp_path):
    with pytest.raises(TrainingError, match="steps is 0"):
        training(tmp_path, steps=0)
