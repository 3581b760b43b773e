"""On a GPU the same algorithms run, and learning never makes the host wait for the device."""

import pytest
import torch

import rldebug
from rldebug.parts import distributions
from rldebug.parts.buffers import Replay, RolloutBuffer
from rldebug.parts.vector import Envs
from rldebug.training import Training
from tests.algos.test_algos import ENV, SMALL

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


@pytest.fixture
def no_waiting(monkeypatch):
    """From the moment that data has been collected until it is logged, or the policy acts again."""

    def after(owner, name, mode):
        real = getattr(owner, name)

        def call(*args, **kwargs):
            result = real(*args, **kwargs)
            torch.cuda.set_sync_debug_mode(mode)
            return result

        monkeypatch.setattr(owner, name, call)

    def before(owner, name, mode):
        real = getattr(owner, name)

        def call(*args, **kwargs):
            torch.cuda.set_sync_debug_mode(mode)
            return real(*args, **kwargs)

        monkeypatch.setattr(owner, name, call)

    after(RolloutBuffer, "rollout", "error")
    after(Replay, "sample", "error")
    before(distributions, "_numpy", "default")  # acting: the action must reach the host
    before(Envs, "step", "default")
    before(Training, "log", "default")
    yield
    torch.cuda.set_sync_debug_mode("default")


@pytest.mark.parametrize("algorithm", sorted(set(SMALL) - {"trpo"}))  # whose line search decides on the host
def test_learning_never_waits_for_the_device(algorithm, no_waiting, tmp_path):
    environment = ENV.get(algorithm, "CartPole-v1")
    trained = rldebug.train(
        algorithm, environment, steps=1_200, settings=SMALL[algorithm], device="cuda", quiet=True, episodes=1
    )
    assert trained.summary.steps >= 1_200


def test_trpo_runs(tmp_path):
    trained = rldebug.train(
        "trpo", "CartPole-v1", steps=512, settings=SMALL["trpo"], device="cuda", quiet=True, episodes=1
    )
    assert trained.summary.steps >= 512


def test_a_checkpoint_of_the_gpu_goes_on_there(tmp_path):
    common = {"settings": SMALL["ppo"], "device": "cuda", "quiet": True, "episodes": 1}
    rldebug.train("ppo", "CartPole-v1", steps=128, folder=tmp_path, **common)
    before = torch.load(tmp_path / "checkpoint.pt", weights_only=True)["kept"]["model"]
    rldebug.train("ppo", steps=256, resume=tmp_path, **common)
    state = torch.load(tmp_path / "checkpoint.pt", weights_only=True)
    assert state["steps_done"] == 256
    assert state["kept"]["model"]["value.0.weight"].device.type == "cuda"
    assert not torch.equal(before["value.0.weight"], state["kept"]["model"]["value.0.weight"])
