"""Checkpoints: M057 and its relatives."""

from __future__ import annotations

import io
import pickle

import numpy as np
import pytest
import torch
from torch import nn

from tests.errors.cases import cases_in, check, raises


@raises("M057 ddp prefix", "CKP401", "module.", "removeprefix")
def saved_from_a_distributed_module():
    saved = {f"module.{name}": value for name, value in nn.Linear(2, 3).state_dict().items()}
    nn.Linear(2, 3).load_state_dict(saved)  # here


@raises("M057 compiled prefix", "CKP401", "_orig_mod.", "removeprefix")
def saved_from_a_compiled_module():
    class Trainer:
        def __init__(self):
            self.policy = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))

        def resume(self, weights):
            self.policy.load_state_dict(weights)  # here

    other = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).state_dict()
    Trainer().resume({f"_orig_mod.{name}": value for name, value in other.items()})


@raises("M057 prefix the other way", "CKP401", "module.", "without")
def loaded_into_a_distributed_module():
    class Wrapped(nn.Module):
        def __init__(self):
            super().__init__()
            self.module = nn.Linear(2, 3)

    Wrapped().load_state_dict(nn.Linear(2, 3).state_dict())  # here


@raises("M057 other actions", "CKP401", "2.weight", "2 to 4", "action")
def saved_with_another_action_space():
    def policy(actions):
        return nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, actions))

    policy(4).load_state_dict(policy(2).state_dict())  # here


@raises("M057 other observations", "CKP401", "0.weight", "from 4 to 8", "observation")
def saved_with_another_observation():
    def policy(seen):
        return nn.Sequential(nn.Linear(seen, 16), nn.Tanh(), nn.Linear(16, 2))

    policy(8).load_state_dict(policy(4).state_dict())  # here


@raises("M057 wider layers", "CKP401", "64 to 128", "hidden")
def saved_with_other_layers():
    def policy(width):
        return nn.Sequential(nn.Linear(4, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 2))

    policy(128).load_state_dict(policy(64).state_dict())  # here


@raises("M057 whole checkpoint", "CKP401", "policy", "optimizer", "one level down")
def whole_checkpoint_loaded_as_weights():
    net = nn.Linear(2, 3)
    saved = {"policy": net.state_dict(), "optimizer": {}, "step": 3}
    net.load_state_dict(saved)  # here


@raises("M057 other network", "CKP401", "missing critic.weight", "untrained")
def keys_of_another_network():
    class ActorCritic(nn.Module):
        def __init__(self):
            super().__init__()
            self.actor = nn.Linear(4, 2)
            self.critic = nn.Linear(4, 1)

    class Actor(nn.Module):
        def __init__(self):
            super().__init__()
            self.actor = nn.Linear(4, 2)

    ActorCritic().load_state_dict(Actor().state_dict())  # here


@raises("X408 optimizer groups", "CKP440", "parameters", "group")
def optimizer_of_other_groups():
    one, two = nn.Linear(2, 2), nn.Linear(2, 2)
    saved = torch.optim.Adam([*one.parameters(), *two.parameters()]).state_dict()
    torch.optim.Adam(one.parameters()).load_state_dict(saved)  # here


@raises("X409 number of groups", "CKP440", "group")
def optimizer_with_another_number_of_groups():
    one, two = nn.Linear(2, 2), nn.Linear(2, 2)
    saved = torch.optim.Adam([{"params": one.parameters()}, {"params": two.parameters()}]).state_dict()
    torch.optim.Adam(one.parameters()).load_state_dict(saved)  # here


class Schedule:
    rate = 3e-4


@raises("X410 more than weights", "CKP441", "Schedule", "weights_only=False")
def checkpoint_with_objects():
    file = io.BytesIO()
    torch.save({"weights": nn.Linear(1, 1).state_dict(), "schedule": Schedule()}, file)
    file.seek(0)
    torch.load(file, weights_only=True)  # here


@raises("X411 numpy in it", "CKP441", "scalar", "float(")
def checkpoint_with_a_numpy_number():
    file = io.BytesIO()
    torch.save({"best_return": np.float64(3.0)}, file)
    file.seek(0)
    torch.load(file, weights_only=True)  # here


@raises("X412 other device", "CKP442", 'map_location="cpu"', only_text=True)
def checkpoint_of_a_gpu():
    raise RuntimeError(  # here
        "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If you are running"
        " on a CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map your storages to"
        " the CPU."
    )


@raises("X412 fewer GPUs", "CKP442", "map_location", only_text=True)
def checkpoint_of_a_further_gpu():
    raise RuntimeError(  # here
        "Attempting to deserialize object on CUDA device 3 but torch.cuda.device_count() is 1. Please use torch.load"
        " with map_location to map your storages to an existing device."
    )


@raises("X413 no such file", "CKP402", "runs/best.pt")
def checkpoint_that_was_never_written():
    torch.load("runs/best.pt")  # here


@raises("X414 not whole", "CKP402", "whole")
def checkpoint_cut_off():
    file = io.BytesIO()
    torch.save(nn.Linear(64, 64).state_dict(), file)
    torch.load(io.BytesIO(file.getvalue()[: file.tell() // 2]))  # here


@raises("X414 pickle", "CKP402", "whole")
def pickle_cut_off():
    class Agent:
        def load(self, data):
            self.q = pickle.loads(data)  # here

    Agent().load(pickle.dumps({"q": list(range(1000))})[:100])


@raises("X415 empty file", "CKP402", "empty")
def empty_checkpoint():
    torch.load(io.BytesIO())  # here


@raises("X416 module gone", "CKP443", "old_agents", text_too=False)
def pickle_of_a_class_that_has_moved():
    pickle.loads(b"cold_agents.networks\nPolicy\n.")  # here


@raises("X416 class gone", "CKP443", "Policy", "state_dict")
def pickle_of_a_class_that_is_gone():
    pickle.loads(b"ctests.errors.cases\nPolicy\n.")  # here


@pytest.mark.parametrize("case", cases_in(globals()), ids=lambda case: case.id)
def test_it_is_explained(case):
    check(case)
