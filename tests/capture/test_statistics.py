import torch
from torch import nn

from rldebug.capture.statistics import compared, statistics


def net() -> nn.Sequential:
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))


def test_statistics_move_with_the_rows_that_pass() -> None:
    one, two = net(), net()
    before = {"one": statistics(one), "two": statistics(two)}
    assert compared("one", before)["statistics"]["distance"] == {"two": 0.0}
    one(torch.randn(8, 3, generator=torch.Generator().manual_seed(0)))
    after = {"one": statistics(one), "two": statistics(two)}
    assert compared("one", after)["statistics"]["distance"]["two"] > 0
    marks = [compared(name, when)["statistics"]["fingerprint"] for name in ("one", "two") for when in (before, after)]
    assert marks[0] != marks[1]
    assert marks[2] == marks[3]


def test_networks_without_have_none() -> None:
    plain = nn.Linear(3, 4)
    assert statistics(plain) is None
    assert statistics(nn.BatchNorm1d(4, track_running_stats=False)) is None
    assert compared("plain", {}) == {}
