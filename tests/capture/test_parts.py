"""Observations that are dictionaries: which tensors are their parts."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from rldebug.capture.env_log import EnvLog
from rldebug.capture.layout import layout_of
from rldebug.capture.matching import Matcher
from tests.programs.data import tensor
from tests.watched import watched


class Garden:
    """Walks about: what it sees is a number, a plan and a picture."""

    def __init__(self, limit: int = 7) -> None:
        self.rng, self.limit = np.random.default_rng(0), limit

    def _seen(self) -> dict[str, object]:
        picture = self.rng.integers(0, 3, size=(4, 4, 1)).astype(np.uint8) * 100
        return {"plan": self.plan.copy(), "gear": int(self.rng.integers(3)), "view": picture, "at": self.at.copy()}

    def reset(self, *, seed=None, options=None):
        self.time = 0
        self.plan = self.rng.normal(size=2).astype(np.float32)  # stays for an episode
        self.at = self.rng.normal(size=3).astype(np.float32)
        return self._seen(), {}

    def step(self, action):
        self.time += 1
        self.at = self.at + 0.1 * self.rng.normal(size=3).astype(np.float32)
        return self._seen(), float(self.at[0]), False, self.time >= self.limit, {}


def encoded(batch: list[dict[str, object]]) -> dict[str, torch.Tensor]:
    """In another order, the number as flags, the picture as shares of 255 with its channel first."""
    return {
        "at": tensor([each["at"] for each in batch]),
        "gear": nn.functional.one_hot(torch.tensor([each["gear"] for each in batch]), 3).float(),
        "plan": tensor([each["plan"] for each in batch]),
        "view": tensor([each["view"] for each in batch]).permute(0, 3, 1, 2) / 255.0,
    }


class Mixed(nn.Module):
    def __init__(self, beside: int = 0) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.eye = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.ReLU())
        self.head = nn.Linear(8 + 8 + beside, 1)

    def forward(self, obs: dict[str, torch.Tensor], action: torch.Tensor | None = None) -> torch.Tensor:
        more = [action] if action is not None else []
        narrow = [obs["at"], obs["gear"], obs["plan"]]
        return self.head(torch.cat([self.eye(obs["view"]), *narrow, *more], dim=1)).squeeze(1)


def learning(beside: int = 0, steps: int = 80) -> None:
    env, value = Garden(), Mixed(beside)
    optimizer = torch.optim.Adam(value.parameters(), 1e-3)
    more = (torch.randn(16, beside),) if beside else ()
    obs, stored = env.reset()[0], []
    for step in range(1, steps):
        with torch.no_grad():
            value(encoded([obs]), *(each[:1] for each in more))
        stored.append(obs)
        obs, _, terminated, truncated, _ = env.step(0)
        obs = env.reset()[0] if terminated or truncated else obs
        if step % 16 == 0:
            loss = nn.functional.mse_loss(value(encoded(stored[-16:]), *more), torch.ones(16))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def learned(beside: int) -> None:
    _, script = watched(lambda: learning(beside))
    calls = [(audit, each) for audit, each in script.events("call") if each["grad"] and not each["acting"]]
    whole = [(audit, each) for audit, each in calls if len(each["inputs"]) >= 4]
    assert whole
    for audit, call in whole:
        assert call["match"] == "parts"
        places = audit.nodes.index(call.arrays["rows"])
        assert (places >= 0).all()
        assert (np.diff(audit.nodes.call[places]) >= 0).all()
        assert len(call.arrays["input"][0]) == 3 + 3 + 2 + 16 if not beside else True
    terms = [(audit, each) for audit, each in script.events("term") if each["kind"] == "regression"]
    assert terms
    for audit, term in terms:
        assert (audit.nodes.index(term.arrays["rows"]) >= 0).all()


def test_parts_are_found_whatever_their_order_and_encoding() -> None:
    learned(0)


def test_an_action_beside_them_is_no_part() -> None:
    learned(2)


def test_a_part_alone_makes_no_two_steps_alike() -> None:
    """The plan stays: a network that is given it alone says nothing about which step it is."""

    def program() -> None:
        env, plan, value = Garden(), nn.Linear(2, 2), Mixed()
        obs = env.reset()[0]
        for _ in range(40):
            with torch.no_grad():
                plan(tensor([obs["plan"]]))
                value(encoded([obs]))
            obs, _, terminated, truncated, _ = env.step(0)
            obs = env.reset()[0] if terminated or truncated else obs
            nn.functional.mse_loss(value(encoded([obs])), torch.ones(1)).backward()
            torch.optim.SGD(value.parameters(), 0.01).step()

    _, script = watched(program)
    assert script.audits
    assert all((audit.nodes.alike == 0).all() for audit in script.audits)


def test_a_last_observation_comes_in_an_order_of_its_own() -> None:
    log = EnvLog(lambda: (0, 0), lambda env: None)
    env, one = object(), {"a": np.array([1.0, 2.0]), "b": np.array([3.0])}
    log.reset(env, one, None, 1)
    log.step(
        env, 0, {"a": np.array([5.0, 6.0]), "b": np.array([7.0])}, 0.0, False, True, {"b": one["b"], "a": one["a"]}
    )
    assert log.nodes[0].fp == log.nodes[-1].fp == log.find(log.nodes[0].fp).fp
    rows, how = Matcher(log).rows([torch.tensor([[3.0]]), torch.tensor([[1.0, 2.0]])])
    assert how == "parts"
    assert rows.tolist() == [log.nodes[-1].id]


def test_layout() -> None:
    told = layout_of({"a": np.zeros((4, 2), np.uint8), "b": 3, "c": (np.zeros(2), np.zeros(3))})
    assert [(each.shape, each.dtype) for each in told] == [
        ((4, 2), "uint8"),
        ((), "int64"),
        ((2,), "float64"),
        ((3,), "float64"),
    ]
    assert layout_of({"a": "a word"}) == ()
