import gc
import io
import pickle
import weakref

import numpy as np
import pytest
import torch
from torch import nn

from rldebug.capture import checkpoints
from tests.capture.fake import listening


class Learner:
    def __init__(self, session):
        self.net, self.target = nn.Linear(3, 2), nn.Linear(3, 2)
        self.temperature = torch.full((), 0.3, requires_grad=True)
        self.optimizer = torch.optim.Adam([*self.net.parameters(), self.temperature], 0.01)
        self.session = session
        session.registry.module(self.net)
        session.registry.module(self.target)
        session.registry.optimizer(self.optimizer)

    def train(self, steps=3):
        for _ in range(steps):
            loss = self.net(torch.ones(4, 3)).square().mean() + self.temperature.exp()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.session.updates += 1


def only(items):
    (found,) = items
    return found


def save_and_load(thing):
    file = io.BytesIO()
    torch.save(thing, file)
    file.seek(0)
    return torch.load(file, weights_only=False)


def test_what_is_in_a_checkpoint_is_told_by_the_tensors():
    with listening(checkpoints) as session:
        learner = Learner(session)
        learner.train()
        torch.save({"a": learner.net.state_dict(), "b": [learner.optimizer.state_dict()]}, io.BytesIO())
    note = only(session.noted("save"))
    assert note["keys"] == ["a", "b"]
    assert sorted(note["modules"].values()) == [[0, 2], [2, 2]]  # the target is not in it
    held = only(note["optimizers"].values())
    assert held["state"] == held["of"] == 6
    assert (held["weights"], held["lacking"], held["shapes"]) == (3, [2], [[]])  # the temperature is not in it


@pytest.mark.parametrize(
    "copy",
    [
        lambda net: {key: value.clone() for key, value in net.state_dict().items()},
        lambda net: {key: value.numpy().copy() for key, value in net.state_dict().items()},
        lambda net: {key: value.half() for key, value in net.state_dict().items()},
        lambda net: net,
    ],
    ids=["cloned", "numpy", "in half precision", "whole module"],
)
def test_copies_of_weights_are_found_too(copy):
    with listening(checkpoints) as session:
        learner = Learner(session)
        torch.save({"w": copy(learner.net), "temperature": learner.temperature.exp().item()}, io.BytesIO())
    note = only(session.noted("save"))
    assert only(note["optimizers"].values())["lacking"] == []


def test_a_state_dict_that_was_kept_while_training_went_on_is_told():
    with listening(checkpoints) as session:
        learner = Learner(session)
        learner.train()
        best = learner.net.state_dict()
        learner.train()
        torch.save(best, io.BytesIO())
        learner.net.load_state_dict(best)
    assert only(only(session.noted("save"))["kept"]) == {"taken": 3, "tensors": 2, "of": 2, "saved": 1}
    note = only(session.noted("restored"))
    assert (note["own"], note["taken"]) == (True, 3)


def test_a_fresh_state_dict_is_not_kept():
    with listening(checkpoints) as session:
        learner = Learner(session)
        learner.train()
        torch.save(learner.net.state_dict(), io.BytesIO())
        learner.target.load_state_dict(learner.net.state_dict())
    assert only(session.noted("save"))["kept"] == []
    assert not session.noted("restored")


def test_what_is_loaded_is_followed_into_the_networks():
    with listening(checkpoints) as session:
        first = Learner(session)
        first.train()
        loaded = save_and_load({"net": first.net.state_dict(), "opt": first.optimizer.state_dict(), "step": 3})
        second = Learner(session)
        second.net.load_state_dict(loaded["net"])
        second.optimizer.load_state_dict(loaded["opt"])
        second.train()
    file = session.only("checkpoint")
    assert file["taken"] == {"net": 1, "opt": 1}
    assert (file["states"], file["states_taken"]) == (1, 1)
    note = only(session.noted("resumed"))
    assert (note["fresh"], note["given"], note["changed"]) == (False, True, 0)


def test_an_optimizer_that_starts_anew_is_told():
    with listening(checkpoints) as session:
        first = Learner(session)
        first.train()
        loaded = save_and_load({"net": first.net.state_dict(), "opt": first.optimizer.state_dict()})
        second = Learner(session)
        second.net.load_state_dict(loaded["net"])
        second.train()
    note = only(session.noted("resumed"))
    assert (note["fresh"], note["given"], note["tensors"]) == (True, False, 2)
    assert session.only("checkpoint")["states_taken"] == 0
    assert {"name": "target-2", "equal": 0, "of": 2, "restored": False} in [
        {**each, "name": "target-2"} for each in note["twins"]
    ]


def test_weights_that_are_written_over_before_training_goes_on_are_counted():
    with listening(checkpoints) as session:
        first = Learner(session)
        loaded = save_and_load(first.net.state_dict())
        second = Learner(session)
        second.net.load_state_dict(loaded)
        nn.init.orthogonal_(second.net.weight)
        second.train()
    assert only(session.noted("resumed"))["changed"] == 1


def test_keys_that_do_not_fit_are_told():
    with listening(checkpoints) as session:
        net = nn.Linear(3, 2)
        result = net.load_state_dict({f"module.{key}": value for key, value in net.state_dict().items()}, strict=False)
    assert result.missing_keys == ["weight", "bias"]
    note = only(session.noted("restored"))
    assert (note["missed"], note["unknown"], note["of"], note["strict"]) == (2, 2, 2, False)


def test_nothing_is_kept_alive_and_everything_is_put_back():
    def program():
        loaded = save_and_load({"net": nn.Linear(3, 2).state_dict()})
        net = nn.Linear(3, 2)
        net.load_state_dict(loaded["net"])
        return weakref.ref(net), weakref.ref(loaded["net"]["weight"])

    before = (torch.save, torch.load, nn.Module.load_state_dict, nn.Module.state_dict)
    with listening(checkpoints) as session:
        gone = program()
        gc.collect()
        assert [each() for each in gone] == [None, None]
        assert pickle.loads(pickle.dumps(torch.save)) is torch.save
        assert session.noted("load")
    assert (torch.save, torch.load, nn.Module.load_state_dict, nn.Module.state_dict) == before


def test_odd_things_can_be_saved():
    class Odd:
        __slots__ = ("inside",)

        def __getattr__(self, name):
            raise AssertionError("looked at")

    loop: list = []
    loop.append(loop)
    with listening(checkpoints) as session:
        odd = [loop, np.array([{1}, None], dtype=object), float("nan"), torch.empty(0), {(1, 2): np.float32(3)}]
        checkpoints.Checkpoints(session).saved([*odd, Odd()], "x.pt")
    assert only(session.noted("save"))["file"] == "x.pt"


def test_a_thousand_saves_are_a_few_notes_of_whole_moments():
    with listening(checkpoints) as session:
        seen = checkpoints.Checkpoints(session)
        for session.updates in range(1000):
            seen.saved({"a": 1}, "a.pt")
            seen.saved({"b": 1}, "b.pt")
    noted = session.noted("save")
    assert len(noted) < 40
    moments = {each["update"] for each in noted}
    assert all(sum(each["update"] == one for each in noted) == 2 for one in moments)
