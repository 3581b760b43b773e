"""Devices and memory: M051–M058 and their relatives."""

from __future__ import annotations

import collections

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.errors.cases import cases_in, check, raises

TWO = "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
NEWER = "Expected all tensors to be on the same device, but got {} is on cpu, different from other tensors on cuda:0"
FULL = (
    "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.69 GiB of which 1.05 GiB is free."
    " Of the allocated memory 20.11 GiB is allocated by PyTorch, and 1.20 GiB is reserved by PyTorch but unallocated."
)

# What a GPU says, from a frame that is not the program's own: the device `meta` stands for the GPU.
_LIBRARY: dict = {}
exec(compile("def gpu(text, *tensors, kind=RuntimeError):\n    raise kind(text)", "<frozen gpu>", "exec"), _LIBRARY)
gpu = _LIBRARY["gpu"]


# ── M051 ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@raises("M051 observation", "PRE406", "state lies on cpu", "as_tensor", "test_device.py:")
def observation_left_on_the_cpu():
    policy = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2)).to("meta")
    seen = np.zeros(4, dtype=np.float32)
    state = torch.as_tensor(seen)
    bias = policy[0].bias.new_zeros(4)
    return state + bias  # here


@raises("M051 atoms", "PRE406", "self.support", "linspace", "register_buffer")
def atoms_that_are_no_buffer():
    class Critic(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Linear(4, 51)
            self.support = torch.linspace(-10, 10, 51)

        def forward(self, x):
            chances = x.new_ones(1, 51)
            return (chances * self.support).sum(-1)  # here

    return Critic().to("meta")(torch.zeros(1, 4, device="meta"))


@raises("M051 scale of an actor", "PRE406", "self.scale", "register_buffer", only_text=True)
def scale_that_is_no_buffer():
    class Actor(nn.Module):
        def __init__(self, high):
            super().__init__()
            self.mean = nn.Linear(3, 1)
            self.scale = torch.tensor(high)

        def forward(self, obs):
            squashed = torch.tanh(obs[:, :1])
            return gpu(TWO, squashed, self.scale)  # here

    return Actor(2.0).to("meta")(torch.zeros(1, 3, device="meta"))


@raises("M051 rewards", "PRE406", "rew lies on cpu", "torch.tensor", "next_value.device")
def rewards_of_a_batch():
    def targets(rew, next_value, gamma=0.99):
        return rew + gamma * next_value  # here

    batch = [(0, 1.0), (1, 0.0)]
    bootstrapped = torch.zeros(2, device="meta")
    return targets(torch.tensor([each[1] for each in batch]), bootstrapped)


@raises("M051 loss", "PRE406", "wanted lies on cpu")
def regression_onto_a_target_on_the_cpu():
    net = nn.Linear(3, 1).to("meta")
    guess = net.weight.sum(0)
    wanted = torch.ones(3)
    return F.mse_loss(guess, wanted)  # here


@raises("M051 layer", "PRE406", "frames lies on cpu", only_text=True)
def batch_into_a_network_of_a_gpu():
    class Agent:
        def __init__(self):
            self.net = nn.Linear(4, 2).to("meta")

        def act(self, frames):
            return gpu(NEWER.format("mat1"), self.net, frames)  # here

    return Agent().act(torch.zeros(1, 4))


@raises("M051 hidden state", "PRE406", "Input and parameter tensors are not at the same device")
def sequence_into_an_lstm():
    memory = nn.LSTM(4, 8, device="meta")
    return memory(torch.zeros(5, 1, 4))  # here


@raises("M051 index", "PRE406", "chosen lies on cpu", only_text=True)
def index_of_another_device():
    q = torch.zeros(5, 2, device="meta")
    chosen = torch.zeros(5, 1, dtype=torch.long)
    return gpu(TWO + " (when checking argument for argument index in method wrapper_CUDA_gather)", q, chosen)  # here


@raises("X400 index of a buffer", "PRE406", only_text=True)
def rows_of_a_buffer():
    raise RuntimeError("indices should be either on cpu or on the same device as the indexed tensor (cpu)")  # here


@raises("X401 convolution", "PRE406", only_text=True)
def images_into_a_convolution():
    raise RuntimeError(  # here
        "Input type (torch.FloatTensor) and weight type (torch.cuda.FloatTensor) should be the same or input should be"
        " a MKLDNN tensor and weight is a dense tensor"
    )


# ── M052, M053 ──────────────────────────────────────────────────────────────────────────────────────────────────────


@raises("M052", "PRE440", "action", "zeros", "action.cpu().numpy()")
def action_of_a_gpu():
    action = torch.zeros(2, device="meta")
    return action.numpy()  # here


@raises("M052 asarray", "PRE440", "self.actions.cpu().numpy()")
def actions_of_many_environments():
    class Runner:
        def __init__(self):
            self.actions = torch.zeros(8, device="meta")

        def send(self):
            return np.asarray(self.actions)  # here

    return Runner().send()


@raises("M053", "INS403", "cuda", 'device = "cuda" if torch.cuda.is_available() else "cpu"')
def no_gpu_for_a_network():
    return nn.Linear(2, 2).to("cuda")  # here


@raises("M053 tensor", "INS403", "cpu")
def no_gpu_for_a_tensor():
    return torch.zeros(3, device="cuda:0")  # here


@raises("X402 driver", "INS403", "nvidia-smi", only_text=True)
def no_driver():
    raise RuntimeError(  # here
        "Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver from"
        " http://www.nvidia.com/Download/index.aspx"
    )


@raises("X403 ordinal", "INS403", "device_count", only_text=True)
def no_such_gpu():
    raise RuntimeError("CUDA error: invalid device ordinal\nGPU device may be out of range")  # here


@raises("X404 architecture", "INS440", "torch.cuda.get_arch_list()", only_text=True)
def gpu_too_new_for_the_build():
    raise RuntimeError("CUDA error: no kernel image is available for execution on the device")  # here


@raises("X404 warning", "INS440", only_text=True)
def gpu_too_new_as_a_warning():
    raise UserWarning(  # here
        "NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch installation."
    )


# ── M054 ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@raises("M054", "PRF401", "losses", "graph", "detach", only_text=True)
def losses_kept_with_their_graph():
    net = nn.Linear(3, 1)
    losses = []
    for _ in range(50):
        losses.append(net(torch.ones(1, 3)).pow(2).mean())
    gpu(FULL, kind=torch.OutOfMemoryError)  # here


@raises("M054 summed loss", "PRF401", "total", "item()", only_text=True)
def loss_summed_with_its_graph():
    net, total = nn.Linear(3, 1), 0
    for _ in range(20):
        total += net(torch.ones(1, 3)).pow(2).mean()
    gpu(FULL, kind=torch.OutOfMemoryError)  # here


@raises("M054 replay on the GPU", "PRF401", "self.frames", "26.3 GiB", "uint8", only_text=True)
def replay_on_the_gpu():
    class Memory:
        def __init__(self, size):
            self.frames = torch.zeros(size, 4, 84, 84, device="meta")
            self.actions = torch.zeros(size, dtype=torch.long, device="meta")
            self.place = 0

        def add(self):
            gpu(FULL, kind=torch.OutOfMemoryError)  # here

    Memory(250_000).add()


@raises("M054 buffer of pairs", "PRF401", "memory", "graph", only_text=True)
def replay_that_keeps_graphs():
    net = nn.Linear(2, 2)
    memory = collections.deque(maxlen=1000)
    for _ in range(40):
        memory.append((torch.zeros(2), net(torch.zeros(2)), 0.0))
    gpu(FULL, kind=torch.OutOfMemoryError)  # here


@raises("X405 numpy", "PRF401", "TiB")
def array_too_large():
    return np.zeros((1_000_000_000, 84, 84, 4))  # here


@raises("X406 cpu allocator", "PRF401", "4503599627370496")
def tensor_too_large():
    return torch.zeros(1 << 50)  # here


@raises("X407 cublas", "PRF401", only_text=True)
def handle_does_not_fit():
    raise RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`")  # here


# ── M058 ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@raises("M058", "MPR440", "close()", "ulimit -n", only_text=True)
def environments_never_closed():
    raise OSError(24, "Too many open files")  # here


@raises("M058 ancdata", "MPR440", "file_system", only_text=True)
def descriptors_of_tensors():
    raise RuntimeError("received 0 items of ancdata")  # here


@pytest.mark.parametrize("case", cases_in(globals()), ids=lambda case: case.id)
def test_it_is_explained(case):
    check(case)
