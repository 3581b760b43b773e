"""What steps led to is valued by itself, last observations too, and only then it is acted on."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import Tensor, nn

from tests.watched import watched


class Errand(gym.Env[Any, Any]):
    """Two numbers, and where to; ends by chance."""

    action_space = gym.spaces.Discrete(2)
    observation_space = gym.spaces.Dict(
        {"at": gym.spaces.Box(-9.0, 9.0, (2,), np.float32), "to": gym.spaces.Box(0.0, 1.0, (3,), np.float32)}
    )

    def __init__(self, seed: int) -> None:
        self.draw = np.random.default_rng(seed)

    def seen(self) -> dict[str, Any]:
        return {"at": self.draw.normal(size=2).astype(np.float32), "to": np.eye(3, dtype=np.float32)[self.goal]}

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.goal = int(self.draw.integers(3))
        return self.seen(), {}

    def step(self, action: Any) -> Any:
        return self.seen(), 1.0, bool(self.draw.random() < 0.1), False, {}


class Parts(nn.Module):
    """Given the parts by name, in another order than they are observed in; or changed beyond recognition."""

    def __init__(self, form: str) -> None:
        super().__init__()
        self.form, self.last = form, nn.Linear(5, 1)

    def given(self, many: list[dict[str, Any]]) -> Any:
        at, to = (torch.as_tensor(np.stack([each[key] for each in many])) for key in ("at", "to"))
        if self.form == "changed":
            return torch.cat([torch.tanh(at), 2.0 * to - 1.0], dim=1)
        return {"to": to, "at": at} if self.form == "turned" else {"at": at, "to": to}

    def forward(self, given: Any) -> Tensor:
        whole = given if isinstance(given, Tensor) else torch.cat([given["at"], given["to"]], dim=1)
        return torch.as_tensor(self.last(whole))


def program(form: str, lanes: int) -> None:
    torch.manual_seed(0)
    envs, net = [Errand(seed) for seed in range(lanes)], Parts(form)
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    obs = [each.reset()[0] for each in envs]
    for _ in range(3):
        kept: list[dict[str, Any]] = []
        for _ in range(24):
            with torch.no_grad():
                net(net.given(obs))
            kept += obs
            led = []
            for lane, env in enumerate(envs):
                after, _, ended, _, _ = env.step(0)
                led.append(after)
                obs[lane] = env.reset()[0] if ended else after
            with torch.no_grad():
                net(net.given(led))
        loss = net(net.given(kept)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@pytest.mark.parametrize("lanes", [1, 3])
@pytest.mark.parametrize("form", ["parts", "turned", "changed"])
def test_last_observations_are_not_taken_for_those_of_the_reset(form: str, lanes: int) -> None:
    _, script = watched(lambda: program(form, lanes))
    audit = script.audits[1]
    nodes = audit.nodes
    ended = np.flatnonzero(nodes.terminated & (nodes.phase >= audit.phase))
    assert len(ended) >= 2
    asked = [
        (row, number)
        for each in audit.calls
        if not each["grad"]
        for row, number in zip(each.arrays["rows"].tolist(), each.arrays["output0"][:, 0].tolist(), strict=True)
    ]
    values: dict[int, set[float]] = {}
    for row, number in asked:
        values.setdefault(row, set()).add(round(number, 5))
    told = [place for place in ended if int(nodes.nxt[place]) in values]
    assert len(told) >= 0.8 * len(ended)
    for place in told:
        led, begun = values[int(nodes.nxt[place])], values.get(int(nodes.succ[nodes.index(nodes.nxt[[place]])[0]]))
        assert len(led) == 1
        assert begun is None or led.isdisjoint(begun)
