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
