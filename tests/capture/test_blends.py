"""Copies whose shares do not add up to one are told apart from soft updates."""

import pytest
import torch
from torch import nn

from tests.watched import watched


def follow(keep, take, updates=10):
    def program():
        torch.manual_seed(0)
        online, target = nn.Linear(4, 4), nn.Linear(4, 4)
        opt = torch.optim.SGD(online.parameters(), lr=0.1)
        for _ in range(updates):
            rows = torch.randn(8, 4)
            with torch.no_grad():
                wanted = target(rows + 1)
            (online(rows) - wanted).square().mean().backward()
            opt.step()
            opt.zero_grad()
            for mine, theirs in zip(target.parameters(), online.parameters(), strict=True):
                mine.data.mul_(keep).add_(take * theirs.data)

    return watched(program)[1]


def test_shares_that_do_not_add_up_are_measured():
    found = [event for _, event in follow(0.9, 0.3).events("blend") if event["module"] == "target"]
    assert len(found) >= 3
    assert all(each["keep"] == pytest.approx(0.9, abs=1e-3) for each in found)
    assert all(each["take"] == pytest.approx(0.3, abs=1e-3) for each in found)


def test_a_soft_update_is_a_copy():
    script = follow(0.9, 0.1)
    assert not list(script.events("blend"))
    assert [event["source"] for _, event in script.events("copy") if event["module"] == "target"]
