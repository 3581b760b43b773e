from __future__ import annotations

import random
from collections import deque
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from rldebug.rules.checkpoint.exploration_begins_anew import ExplorationBeginsAnew
from tests.judge import fires, not_enough, quiet
from tests.programs.data import Drift
from tests.watched import watched


def program(folder: Any, fault: str, asks: bool = True) -> None:
    """A DQN in two sittings; the second goes on from a file."""
    torch.manual_seed(0)
    random.seed(0)
    np.random.seed(0)
    steps, sitting = 0, 500
    memory: deque[Any] = deque(maxlen=2000)
    for half in range(1 if fault == "one sitting" else 2):
        env = Drift(half)
        net, target = (nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 3)) for _ in range(2))
        opt = torch.optim.Adam(net.parameters(), 1e-3)
        if half:
            kept = torch.load(folder / "half.pt", weights_only=False)
            net.load_state_dict(kept["net"])
            opt.load_state_dict(kept["opt"])
            steps = 0 if fault == "from the beginning" else kept["steps"]
            if fault == "of the whole":
                whole = nn.ModuleDict({"net": net})  # made for the file, and never called
                whole.load_state_dict({f"net.{key}": each for key, each in kept["net"].items()})
        target.load_state_dict(net.state_dict())
        obs, _ = env.reset()
        for _ in range(sitting):
            rises = 0.45 if fault and half else 0.05  # by a schedule over the progress of a run that is longer now
            greedy = random.random() > (1.0 if steps < 200 else rises)
            action = random.randrange(3)
            if greedy or asks:
                with torch.no_grad():
                    best = int(net(torch.as_tensor(obs)[None]).argmax())
                action = best if greedy else action
            nxt, reward, over, cut, _ = env.step(action)
            memory.append((obs, action, reward, nxt, over))
            obs = env.reset()[0] if over or cut else nxt
            steps += 1
            if len(memory) >= 32:
                s, a, r, n, d = map(np.array, zip(*random.sample(list(memory), 32), strict=True))
                with torch.no_grad():
                    y = (
                        torch.tensor(r).float()
                        + 0.9 * (1 - torch.tensor(d).float()) * target(torch.tensor(n)).max(1).values
                    )
                q = net(torch.tensor(s)).gather(1, torch.tensor(a)[:, None])[:, 0]
                opt.zero_grad()
                nn.functional.mse_loss(q, y).backward()
                opt.step()
            if steps % 50 == 0:
                target.load_state_dict(net.state_dict())
        torch.save({"net": net.state_dict(), "opt": opt.state_dict(), "steps": steps}, folder / "half.pt")


@pytest.mark.parametrize("asks", [True, False])
def test_fires_where_the_counter_is_not_restored(tmp_path: Any, asks: bool) -> None:
    found = fires(ExplorationBeginsAnew(), watched(lambda: program(tmp_path, "from the beginning", asks))[1])
    assert "half.pt" in found.seen


@pytest.mark.parametrize("asks", [True, False])
def test_quiet_where_the_schedule_goes_on(tmp_path: Any, asks: bool) -> None:
    quiet(ExplorationBeginsAnew(), watched(lambda: program(tmp_path, "", asks))[1])


@pytest.mark.parametrize("asks", [True, False])
@pytest.mark.parametrize("fault", ["rises", "of the whole"])
def test_quiet_where_the_share_rises_and_stays_below_what_it_began_with(tmp_path: Any, fault: str, asks: bool) -> None:
    quiet(ExplorationBeginsAnew(), watched(lambda: program(tmp_path, fault, asks))[1])


def test_declines_where_nothing_was_loaded(tmp_path: Any) -> None:
    not_enough(ExplorationBeginsAnew(), watched(lambda: program(tmp_path, "one sitting"))[1])
