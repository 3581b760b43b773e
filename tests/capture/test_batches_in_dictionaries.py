"""A network that is given a whole batch, in a dictionary: its rows are those of the observations in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from tests.programs.data import Drift, tensor
from tests.watched import watched


class Critic(nn.Module):
    """Picks what it needs."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Linear(3, 1)

    def forward(self, batch: dict[str, Tensor]) -> Tensor:
        return torch.as_tensor(self.layers(batch["obs"]))[:, 0]


def _program(batch_of: Callable[[Tensor, Tensor, Tensor], dict[str, Tensor]]) -> Callable[[], None]:
    def program() -> None:
        torch.manual_seed(0)
        env, critic = Drift(), Critic()
        optimizer = torch.optim.Adam(critic.parameters(), 1e-3)
        obs, _ = env.reset()
        for _ in range(4):
            rows: list[Any] = []
            for _ in range(24):
                action = int(torch.randint(3, ()))
                after, reward, terminated, truncated, _ = env.step(action)
                rows.append((obs.copy(), action, reward))
                obs = env.reset()[0] if terminated or truncated else after
            s, a, r = (tensor(np.array(each)) for each in zip(*rows, strict=True))
            loss = ((critic(batch_of(s, a, r)) - r) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    return program


@pytest.mark.parametrize(
    "batch_of",
    [
        lambda s, a, r: {"obs": s, "action": a, "reward": r},
        lambda s, a, r: {"action": a, "reward": r, "obs": s},
        lambda s, a, r: {"action": a, "reward": r, "mask": r > 0, "logp": -r, "weight": r * 2, "obs": s},
    ],
    ids=["first", "last", "after many others"],
)
def test_the_observation_is_the_input_wherever_it_stands(batch_of: Any) -> None:
    script = watched(_program(batch_of))[1]
    calls = [call for audit in script.audits for call in audit.calls if not call.get("acting")]
    assert calls
    for audit in script.audits:
        for call in audit.calls:
            places = audit.nodes.index(call.arrays["rows"])
            assert (places >= 0).all()
            np.testing.assert_array_equal(call.arrays["input"], audit.nodes.obs[places])
