from __future__ import annotations

import random
from collections import deque
from contextlib import suppress
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import nn

from rldebug.rule import NotEnough
from rldebug.rules.buffer.rows_overwritten import RowsOverwritten
from tests.programs.data import found, seen
from tests.watched import watched


def test_fires_where_the_environment_hands_out_one_array() -> None:
    (finding,) = found(RowsOverwritten(), seen(watched, "dqn", "one array"))
    assert finding.seen.startswith("1 different rows")


@pytest.mark.parametrize("program", ["dqn", "ppo", "ddpg"])
def test_quiet_where_rows_differ(program: str) -> None:
    assert not found(RowsOverwritten(), seen(watched, program))


class Carrier(gym.Env[Any, Any]):
    """What is carried, what lies ahead and which way it went are flags; where it is are numbers."""

    action_space = gym.spaces.Discrete(2)
    observation_space = gym.spaces.Dict(
        {
            "spot": gym.spaces.Box(-9, 9, (3,)),
            **{name: gym.spaces.Box(0, 1, (2,)) for name in ("carries", "ahead", "last")},
        }
    )

    def __init__(self, one: bool) -> None:
        self.one, self.array = one, np.zeros(3, dtype=np.float32)

    def _look(self, last: int) -> dict[str, Any]:
        flags = np.eye(2, dtype=np.float32)
        self.array[:] = self.spot
        carries, ahead = flags[int(self.spot[0] > 0)], flags[int(self.spot[1] > 0)]
        spot = self.array if self.one else self.array.copy()
        return {"carries": carries, "ahead": ahead, "last": flags[last], "spot": spot}

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.spot = self.np_random.normal(size=3)
        return self._look(0), {}

    def step(self, action: Any) -> Any:
        self.spot = 0.9 * self.spot + 0.3 * self.np_random.normal(size=3)
        return self._look(int(action)), float(action), bool(self.np_random.random() < 0.05), False, {}


class Body(nn.Module):
    def __init__(self, wide: int) -> None:
        super().__init__()
        self.layer = nn.Linear(wide, 16)

    def forward(self, *parts: Any) -> Any:
        return torch.tanh(self.layer(torch.cat(parts, dim=1)))


def carry(parts: tuple[str, ...], one: bool = False) -> None:
    torch.manual_seed(0)
    random.seed(0)
    env = Carrier(one)
    body, head = Body(sum(3 if each == "spot" else 2 for each in parts)), nn.Linear(16, 2)
    opt = torch.optim.Adam([*body.parameters(), *head.parameters()], 1e-3)
    memory: deque[Any] = deque(maxlen=500)

    def values(rows: Any) -> torch.Tensor:
        return head(body(*(torch.as_tensor(np.stack([each[name] for each in rows])) for name in parts)))

    obs, _ = env.reset(seed=0)
    for _ in range(300):
        with torch.no_grad():
            action = int(values([obs]).argmax()) if random.random() > 0.3 else random.randrange(2)
        after, reward, over, _, _ = env.step(action)
        memory.append((obs, action, reward, after, over))
        obs = env.reset()[0] if over else after
        if len(memory) >= 64:
            s, a, r, n, d = zip(*random.sample(list(memory), 32), strict=True)
            with torch.no_grad():
                y = torch.tensor(r) + 0.9 * (1 - torch.tensor(d, dtype=torch.float32)) * values(n).amax(1)
            q = values(s).gather(1, torch.tensor(a)[:, None])[:, 0]
            opt.zero_grad()
            nn.functional.mse_loss(q, y.float()).backward()
            opt.step()


def test_quiet_where_another_part_differs() -> None:
    assert not found(RowsOverwritten(), watched(lambda: carry(("carries", "spot")))[1])


def test_quiet_where_only_flags_are_seen() -> None:
    """The head is given what the body has computed of them, which differs from step to step."""
    with suppress(NotEnough):
        assert not found(RowsOverwritten(), watched(lambda: carry(("carries", "ahead", "last", "spot")))[1])


class Glide(gym.Env[Any, Any]):
    action_space = gym.spaces.Discrete(2)
    observation_space = gym.spaces.Box(-9, 9, (3,))

    def __init__(self, one: bool) -> None:
        self.one, self.array = one, np.zeros(3, dtype=np.float32)

    def _look(self) -> Any:
        self.array[:] = self.spot
        return self.array if self.one else self.array.copy()

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.spot = self.np_random.normal(size=3)
        return self._look(), {}

    def step(self, action: Any) -> Any:
        self.spot = 0.9 * self.spot + 0.3 * self.np_random.normal(size=3)
        return self._look(), float(action) * float(self.spot[0]), bool(self.np_random.random() < 0.05), False, {}


def cut_flights(one: bool = False) -> None:
    """The value of where an episode was cut, for as many as may be: rows of zeros stand in for those that ended."""
    torch.manual_seed(0)
    env = Glide(one)
    pilot, value = nn.Linear(3, 2), nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
    learn = torch.optim.Adam([*pilot.parameters(), *value.parameters()], 1e-3)
    for _ in range(30):
        rows, actions, paid, ended, ends = [], [], [], [], torch.zeros(24, 3)
        obs, _ = env.reset()
        for _ in range(24):
            with torch.no_grad():
                action = int(pilot(torch.as_tensor(obs)).softmax(-1).multinomial(1))
            rows.append(obs), actions.append(action)
            obs, reward, over, _, _ = env.step(action)
            paid.append(reward), ended.append(over)
            obs = env.reset()[0] if over else obs
        x = torch.as_tensor(np.stack(rows))
        with torch.no_grad():
            after = value(ends)[:, 0] * 0.0
        goal = torch.tensor(paid, dtype=torch.float32) + after
        said = value(x)[:, 0]
        chosen = pilot(x).log_softmax(-1)[torch.arange(24), torch.tensor(actions)]
        loss = ((said - goal) ** 2).mean() - (chosen * (goal - said).detach()).mean()
        learn.zero_grad()
        loss.backward()
        learn.step()


class Doubtful(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body, self.head, self.drop = nn.Linear(3, 32), nn.Linear(32, 2), nn.Dropout(0.2)

    def forward(self, rows: Any) -> Any:
        return self.head(self.drop(torch.tanh(self.body(rows))))


def asked_under_dropout(one: bool = False) -> None:
    """Every other time it acts by the mean of what thirty-two thinned networks say of the one observation there is."""
    torch.manual_seed(0)
    random.seed(0)
    env = Glide(one)
    q, slow = Doubtful(), Doubtful()
    learn = torch.optim.Adam(q.parameters(), 1e-3)
    memory: list[Any] = []
    obs, _ = env.reset(seed=0)
    for step in range(240):
        with torch.no_grad():
            asked = torch.as_tensor(obs).expand(32 if step % 2 else 1, 3)
            action = int(q(asked).mean(0).argmax())
        after, reward, over, _, _ = env.step(action)
        memory.append((obs, action, reward, after, over))
        obs = env.reset()[0] if over else after
        if step >= 40:
            s, a, r, n, d = zip(*random.sample(memory, 32), strict=True)
            with torch.no_grad():
                best = slow(torch.as_tensor(np.stack(n))).amax(1)
                y = torch.tensor(r, dtype=torch.float32) + 0.9 * (1 - torch.tensor(d, dtype=torch.float32)) * best
            said = q(torch.as_tensor(np.stack(s))).gather(1, torch.tensor(a)[:, None])[:, 0]
            learn.zero_grad()
            nn.functional.mse_loss(said, y).backward()
            learn.step()
        if step % 20 == 0:
            slow.load_state_dict(q.state_dict())


@pytest.mark.parametrize("program", [cut_flights, asked_under_dropout])
def test_quiet_where_rows_are_one_and_nothing_was_stored_wrongly(program: Any) -> None:
    with suppress(NotEnough):
        assert not found(RowsOverwritten(), watched(program, overhead_budget=10.0)[1])


@pytest.mark.parametrize("program", [cut_flights, asked_under_dropout])
def test_fires_there_too_where_the_array_is_one(program: Any) -> None:
    assert found(RowsOverwritten(), watched(lambda: program(True), overhead_budget=10.0)[1])
