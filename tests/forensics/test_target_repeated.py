"""Targets of a world that is a plain function: no step is seen, transitions are only drawn again and again."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from tests.watched import watched
from torch import nn

from rldebug.evidence.script import Script
from rldebug.forensics.target_q import q_formulas
from rldebug.forensics.target_repeated import Draw, _over

CELLS, GAMMA = 7, 0.9


def move(cell: int, action: int, draw: Any) -> tuple[int, float, bool]:
    there = min(max(cell + (1 if action else -1), 0), CELLS - 1)
    return there, -0.1 + 0.01 * float(draw.integers(2)), there == CELLS - 1


def walk(fault: str) -> None:
    torch.manual_seed(0)
    draw = np.random.default_rng(0)
    eye = np.eye(CELLS, dtype=np.float32)
    q, slow = (nn.Sequential(nn.Linear(CELLS, 16), nn.Tanh(), nn.Linear(16, 2)) for _ in range(2))
    slow.load_state_dict(q.state_dict())
    optimizer = torch.optim.Adam(q.parameters(), 5e-3)
    rows: list[Any] = []
    cell = 0
    for step in range(700):
        with torch.no_grad():
            greedy = int(q(torch.from_numpy(eye[cell])[None]).argmax())
        action = greedy if draw.random() > 0.6 else int(draw.integers(2))
        there, paid, over = move(cell, action, draw)
        rows.append((eye[cell], action, round(paid, 1), eye[there], over))
        cell = 0 if over else there
        if step < 60:
            continue
        picked = [rows[i] for i in draw.integers(len(rows), size=32)]
        columns = (torch.as_tensor(np.array(each)) for each in zip(*picked, strict=True))
        before, taken, reward, after, end = columns
        with torch.no_grad():
            told = slow(after)
            best = {"least": told.min(1).values, "soft": 0.1 * torch.logsumexp(told / 0.1, 1)}.get(
                fault, told.max(1).values
            )
            on = {"ends-ignored": torch.ones(32), "inverted": end.float()}.get(fault, 1.0 - end.float())
            goal = reward.float() + GAMMA * on * best
        loss: Any = nn.functional.mse_loss(q(before).gather(1, taken[:, None])[:, 0], goal)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 15 == 0:
            slow.load_state_dict(q.state_dict())


@cache
def seen(fault: str = "") -> Script:
    return watched(lambda: walk(fault), overhead_budget=10.0)[1]


@pytest.mark.parametrize(("fault", "name"), [("", "max of"), ("least", "least of"), ("soft", "soft")])
def test_the_formula_is_found_without_rewards(fault, name):
    (found,) = q_formulas(seen(fault))
    assert found.name.startswith(name)
    assert found.gamma == pytest.approx(GAMMA, abs=1e-4)
    assert found.share > 0.97


@pytest.mark.parametrize(("fault", "way"), [("", "zero"), ("ends-ignored", "follows")])
def test_ends_are_what_nobody_starts_from(fault, way):
    (found,) = q_formulas(seen(fault))
    assert [(each.kind, each.way) for each in found.endings] == [("terminated", way)]


def test_a_mask_upside_down_is_named():
    (found,) = q_formulas(seen("inverted"))
    assert found.mistake == "inverted"


def test_where_each_place_was_met_once_nothing_is_an_end():
    """Drawn often from a buffer: the place where the clock cut an episode off is led to, and never started from."""
    start = [bytes([each]) for each in range(50)]
    led = [*start[1:], b"cut off"]
    keys = [one + b">" + two for one, two in zip(start, led, strict=True)]
    draws = [Draw(number, keys, start, led, np.zeros(50), {}) for number in range(12)]
    assert not _over(None, draws, [(1, row, 0, row) for row in range(50)]).any()
