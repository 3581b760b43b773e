"""What a frame of a library says about what is going on: by the library's own files and functions."""

from __future__ import annotations

import os
from functools import lru_cache

from rldebug.evidence.timing import Spot

_LOGGING = frozenset(
    {
        *("tensorboard", "tensorboardX", "wandb", "logging", "tqdm", "rich", "matplotlib", "mlflow", "neptune", "csv"),
        *("clearml", "comet_ml", "aim", "loguru", "swanlab", "trackio", "seaborn", "torch.utils.tensorboard"),
        "stable_baselines3.common.logger",
    }
)
_WAITING = frozenset(
    {
        *("multiprocessing", "queue", "selectors", "threading", "concurrent", "subprocess", "socket", "asyncio", "zmq"),
        *("ray", "torch.multiprocessing", "cloudpickle"),
    }
)
_OPTIMIZER = frozenset({"torch.optim", "torch.nn.utils.clip_grad", "torch.amp.grad_scaler"})
_SAVING = frozenset({"torch.serialization", "pickle", "shelve", "zipfile"})
_BACKWARD = frozenset({"torch.autograd.graph", "torch._tensor.backward", "torch.autograd.backward"})

_HOME = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
_BUFFERS = frozenset(
    {
        *("stable_baselines3.common.buffers", "stable_baselines3.her", "sb3_contrib.common.recurrent.buffers"),
        *("rldebug.parts.buffers", "torchrl.data.replay_buffers", "tianshou.data.buffer"),
    }
)
_OF_BUFFERS = {
    "buffer write": ("add", "extend", "update", "update_priority", "update_weight", "write", "reset"),
    "buffer sample": ("sample", "get", "_get_samples", "minibatches", "take", "sample_indices", "__getitem__"),
    "advantages": ("compute_returns_and_advantage",),
}

CONVERSIONS = frozenset(
    {
        *(
            "torch.tensor",
            "torch.as_tensor",
            "torch.from_numpy",
            "torch.FloatTensor",
            "torch.LongTensor",
            "torch.Tensor",
        ),
        *("torch.IntTensor", "torch.DoubleTensor", "torch.BoolTensor", "torch.asarray"),
        *(".item", ".cpu", ".cuda", ".numpy", ".tolist", ".to", ".pin_memory"),
    }
)
"""Calls that carry numbers from one kind of array to another, or from one device to another."""

SAVES = frozenset({"torch.save", "pickle.dump", "joblib.dump", "numpy.save", "numpy.savez", "numpy.savez_compressed"})
PRINTS = frozenset({"print", "json.dump", "json.dumps", "sys.stdout.write", "sys.stderr.write", "tqdm.write"})


@lru_cache(maxsize=8192)
def module_of(file: str) -> str:
    """`torch.nn.modules.module` for such a file of an installed package or of Python's own."""
    if file.startswith(_HOME):  # also where it is not installed among the others
        file = f"/site-packages/rldebug/{file[len(_HOME) :]}"
    path = file.replace(os.sep, "/")
    for mark in ("/site-packages/", "/dist-packages/"):
        if mark in path:
            path = path.rpartition(mark)[2]
            break
    else:
        _, found, tail = path.rpartition("/lib/python")
        if not found:
            return ""
        path = tail.partition("/")[2]
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _within(module: str, known: frozenset[str]) -> bool:
    parts = module.split(".")
    return any(".".join(parts[: size + 1]) in known for size in range(len(parts)))


@lru_cache(maxsize=65536)
def says(file: str, function: str) -> str:
    """module (a network is called), distribution, or the part that it belongs to; or nothing."""
    module = module_of(file)
    name = function.rpartition(".")[2]
    if module == "torch.nn.modules.module":
        return "optimizer" if name == "zero_grad" else "module" if "call_impl" in name else ""
    if module == "torch.autograd.graph" and "run_backward" in name:
        return "backward"
    if module in ("torch._tensor", "torch.autograd") and name in ("backward", "grad"):
        return "backward"
    if _within(module, _OPTIMIZER):
        return "optimizer"
    if _within(module, _LOGGING):
        return "logging"
    if _within(module, _SAVING) and ("save" in name or "dump" in name):
        return "saving"
    if _within(module, _WAITING):
        return "waiting"
    if module.startswith("torch.distributions"):
        return "distribution"
    if _within(module, _BUFFERS):
        return next((part for part, names in _OF_BUFFERS.items() if name in names), "")
    return "advantages" if module == "rldebug.parts.returns" else ""


def told(spot: Spot) -> str:
    return "" if spot.kind == "user" else says(spot.file, spot.function)
