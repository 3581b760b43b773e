import inspect
import logging
import pickle
import queue
import sys

import pytest
import torch
from torch import nn

from rldebug.evidence.timing import Spot
from rldebug.evidence.timings.libraries import module_of, says, told

SITE = "/venv/lib/python3.11/site-packages/"


@pytest.mark.parametrize(
    ("file", "module"),
    [
        (SITE + "torch/nn/modules/module.py", "torch.nn.modules.module"),
        (SITE + "torch/__init__.py", "torch"),
        ("/usr/lib/python3/dist-packages/yaml/loader.py", "yaml.loader"),
        ("/usr/lib/python3.11/multiprocessing/connection.py", "multiprocessing.connection"),
        ("/usr/lib/python3.11/queue.py", "queue"),
        ("/home/me/train.py", ""),
        ("/home/me/random.py", ""),
        ("train.py", ""),
        ("", ""),
    ],
)
def test_the_module_of_a_file(file, module):
    assert module_of(file) == module


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (nn.Module._call_impl, "module"),
        (nn.Module.zero_grad, "optimizer"),
        (nn.Module.parameters, ""),
        (torch.Tensor.backward, "backward"),
        (torch.autograd.graph._engine_run_backward, "backward"),
        (torch.autograd.backward, "backward"),
        (torch.autograd.grad, "backward"),
        (torch.optim.Adam.step, "optimizer"),
        (torch.optim.Adam.zero_grad, "optimizer"),
        (nn.utils.clip_grad_norm_, "optimizer"),
        (torch.save, "saving"),
        (torch.load, ""),
        (pickle._dump, "saving"),
        (pickle._load, ""),
        (logging.info, "logging"),
        (queue.Queue.get, "waiting"),
        (torch.distributions.Categorical.sample, "distribution"),
        (torch.nn.functional.relu, ""),
    ],
)
def test_what_frames_of_the_libraries_that_are_here_say(function, said):
    """Of the very versions that are installed: a name that has moved would be missed."""
    function = inspect.unwrap(function)
    assert says(inspect.getsourcefile(function), function.__qualname__) == said


@pytest.mark.parametrize(
    ("file", "function", "said"),
    [
        ("torch/utils/tensorboard/writer.py", "SummaryWriter.add_scalar", "logging"),
        ("wandb/sdk/wandb_run.py", "Run.log", "logging"),
        ("stable_baselines3/common/logger.py", "Logger.dump", "logging"),
        ("stable_baselines3/common/buffers.py", "ReplayBuffer.add", "buffer write"),
        ("stable_baselines3/common/buffers.py", "RolloutBuffer.compute_returns_and_advantage", "advantages"),
        ("torchrl/data/replay_buffers/replay_buffers.py", "ReplayBuffer.sample", "buffer sample"),
        ("stable_baselines3/common/buffers.py", "ReplayBuffer.size", ""),
        ("zmq/sugar/socket.py", "Socket.recv", "waiting"),
        ("wandbox/run.py", "log", ""),
        ("torch/optimism.py", "step", ""),
    ],
)
def test_libraries_that_may_not_be_here(file, function, said):
    assert says(SITE + file, function) == said


def test_the_users_own_files_say_nothing():
    assert told(Spot(SITE + "torch/optim/adam.py", "Adam.step", 1, "user")) == ""
    assert told(Spot(SITE + "torch/optim/adam.py", "Adam.step", 1)) == "optimizer"
    assert says(sys.executable, "step") == ""
