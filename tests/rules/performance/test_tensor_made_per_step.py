from __future__ import annotations

import dataclasses

import pytest

from rldebug.evidence.timing import Measured, Network
from rldebug.rules.performance.tensor_made_per_step import TensorMadePerStep
from tests.judge import quiet
from tests.rules.timings import ENVIRONMENT, NETWORK, on, points_at_line, timing, yardstick

STEP = {"part": "copies", "before": "step", "after": "step"}
COSTS = {"as_tensor": 1e-6, "item": 5e-7}
HERE = yardstick(Measured("conversion", "torch.as_tensor, 128 × 1 × 4 at once, per step", 1e-7, 4e-6, COSTS))

CODE = """
    import numpy as np
    import torch

    for update in range(100):
        for t in range(128):
            given = torch.tensor(obs, dtype=torch.float32)  # observation
            action = policy(given)  # network
            obs, reward, done, _, _ = env.step(action.item())  # action
            rewards.append(torch.tensor(reward))  # reward
        learn(rewards).backward()
"""
ALL = [on("observation", 0.7, **STEP), on("action", 0.2, called=".item", **STEP), on("reward", 1.0, **STEP)]


def test_fires_on_many_conversions_at_each_step():
    finding = points_at_line(TensorMadePerStep(), timing(CODE, ALL), "reward")
    assert finding.speedup == pytest.approx(10 / (10 - 0.95))
    assert finding.seen == "0.19 ms per step in torch.tensor, .item; 19 % of the run"
    assert finding.severity == "warning"


def test_fires_with_what_it_could_take_here():
    finding = points_at_line(TensorMadePerStep(), timing(CODE, ALL, yardstick=HERE), "reward")
    assert finding.speedup == pytest.approx(10 / (8.1 + 1e4 * 1.6e-6))
    assert "0.0016 ms on this machine" in finding.expected


def test_fires_on_conversions_of_vectors_of_environments():
    many = dataclasses.replace(ENVIRONMENT, lanes=8, calls=1250)
    finding = points_at_line(TensorMadePerStep(), timing(CODE, ALL, environments=(many,)), "reward")
    assert "all environments" in finding.help
    assert "1.5 ms per step" in finding.seen


def test_quiet_where_they_take_little():
    quiet(TensorMadePerStep(), timing(CODE, [on("observation", 0.4, **STEP)], yardstick=HERE))


def test_quiet_where_there_is_one_in_and_one_out():
    """Half of a slow machine's time, but it cannot be had for less."""
    slow = {"as_tensor": 1e-4, "item": 5e-5}
    known = yardstick(Measured("conversion", "torch.as_tensor", 1e-6, 4e-6, slow))
    quiet(TensorMadePerStep(), timing(CODE, ALL, yardstick=known))


def test_quiet_about_conversions_of_batches():
    batch = [on("reward", 4.0, part="buffer sample", before="update", after="backward")]
    quiet(TensorMadePerStep(), timing(CODE, batch, yardstick=HERE))


def test_quiet_about_evaluation_and_environments():
    other = [on("action", 2.0, **STEP | {"part": "evaluation"}), on("observation", 2.0, inside=True, **STEP)]
    quiet(TensorMadePerStep(), timing(CODE, other, yardstick=HERE))


def test_quiet_about_what_waits_for_a_network_on_a_gpu():
    away = (Network("policy", ((64, 4), (64,)), device="cuda:0", acting_rows=1),)
    waiting = [on("action", 4.0, called=".item", **STEP)]
    quiet(TensorMadePerStep(), timing(CODE, waiting, networks=away, yardstick=HERE))


def test_quiet_about_networks_that_convert_their_input():
    quiet(TensorMadePerStep(), timing(CODE, [on("observation", 4.0, below=[NETWORK], **STEP)], yardstick=HERE))
