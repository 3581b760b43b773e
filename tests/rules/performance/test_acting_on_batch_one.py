from __future__ import annotations

import dataclasses

import pytest

from rldebug.evidence.timing import Measured, Network
from rldebug.rules.performance.acting_on_batch_one import ActingOnBatchOne
from tests.judge import quiet
from tests.rules.timings import ENVIRONMENT, NETWORK, on, points_at_line, timing, yardstick

ACTING = {"part": "acting", "before": "step", "after": "step"}
HERE = yardstick(Measured("acting", "forward of 4-64-64-2", 4e-5, 5e-5, {"1": 4e-5, "8": 4.8e-5}))

CODE = """
    import torch

    for update in range(10):
        for t in range(1000):
            given = torch.as_tensor(obs)  # copied
            action = policy(given).argmax()  # here
            obs, reward, done, _, _ = env.step(action.item())
        learn().backward()
"""
ALL = [
    on("here", 4.0, called="policy", below=[NETWORK], rows=1, **ACTING),
    on("copied", 0.8, **ACTING | {"part": "copies"}),
]


def test_fires_where_a_row_of_eight_is_as_cheap():
    finding = points_at_line(ActingOnBatchOne(), timing(CODE, ALL, yardstick=HERE), "here")
    assert finding.speedup == pytest.approx(10 / (5.2 + 4.0 * 0.15 + 0.1))
    apart = "0.4 ms per step to choose an action, 40 % of the run"
    assert finding.seen == f"{apart}; what else is done once for each step takes 8 % of the run"
    assert "0.04 ms for one row, 0.048 ms for eight" in finding.expected
    assert finding.severity == "warning"


def test_fires_at_the_line_that_calls_the_network():
    code = """
    class Policy:
        def forward(self, obs):
            return self.layers(obs)  # inner

    policy = Policy()
    while True:
        env.step(policy(obs))  # here
        learn().backward()
    """
    inner = on("inner", 4.0, via=["here"], rows=1, **ACTING)
    made = timing(code, [inner], yardstick=HERE)
    at, below = made.slices[0].stack[-2:]
    stack = (at, NETWORK, below, NETWORK)
    made = dataclasses.replace(made, slices=(dataclasses.replace(made.slices[0], stack=stack), *made.slices[1:]))
    points_at_line(ActingOnBatchOne(), made, "here")


def test_fires_without_a_measurement():
    assert points_at_line(ActingOnBatchOne(), timing(CODE, ALL), "here").speedup == pytest.approx(10 / (5.2 + 1.1))


def test_fires_with_what_else_is_done_at_each_step():
    code = """
    while True:
        for t in range(100):
            obs, reward, done, _, _ = env.step(policy(obs))  # here
            rewards.append(reward)  # kept
        for t in range(100):
            last = rewards[t] + gamma * last  # summed
        scaled = last / norm(last)  # once
        learn(scaled).backward()
    """
    kept = on("kept", 0.8, part="buffer write", before="step", after="step")
    summed, once = (on(each, 0.8, part="advantages", before="step", after="backward") for each in ("summed", "once"))
    acts = on("here", 4.0, called="policy", below=[NETWORK], rows=1, **ACTING)
    finding = points_at_line(ActingOnBatchOne(), timing(code, [acts, kept, summed, once], yardstick=HERE), "here")
    assert finding.speedup == pytest.approx(10 / (10 - 4.0 * 0.85 - 0.7)), "the loop over time has advice of its own"


def test_fires_mildly_where_the_gain_is_small():
    few = timing(CODE, [on("here", 2.2, called="policy", below=[NETWORK], rows=1, **ACTING)], yardstick=HERE)
    assert points_at_line(ActingOnBatchOne(), few, "here").severity == "note"


def test_fires_with_less_confidence_where_each_step_is_learned_from():
    usual, often = (timing(CODE, ALL, yardstick=HERE, updates=updates) for updates in (320, 9_000))
    found = [points_at_line(ActingOnBatchOne(), each, "here") for each in (usual, often)]
    assert found[1].confidence == pytest.approx(found[0].confidence / 2, abs=0.01)


def test_quiet_where_acting_takes_little():
    quiet(
        ActingOnBatchOne(), timing(CODE, [on("here", 1.9, called="policy", below=[NETWORK], **ACTING)], yardstick=HERE)
    )


def test_quiet_where_eight_rows_take_eight_times_as_long():
    large = yardstick(Measured("acting", "a large network", 1e-3, 1e-3, {"1": 1e-3, "8": 8e-3}))
    quiet(ActingOnBatchOne(), timing(CODE, ALL[:1], yardstick=large))


@pytest.mark.parametrize("change", [{"lanes": 8}, {"spec": ""}])
def test_quiet_about_vectors_and_what_cannot_be_made_again(change):
    other = dataclasses.replace(ENVIRONMENT, **change)
    quiet(ActingOnBatchOne(), timing(CODE, ALL, environments=(other,), yardstick=HERE))


def test_quiet_about_several_environments():
    quiet(ActingOnBatchOne(), timing(CODE, ALL, environments=(ENVIRONMENT, ENVIRONMENT), yardstick=HERE))


def test_quiet_about_planners_that_ask_for_many_rows():
    many = [on("here", 4.0, called="policy", below=[NETWORK], rows=500, **ACTING)]
    quiet(ActingOnBatchOne(), timing(CODE, many, yardstick=HERE))
    network = Network("model", ((64, 4), (64,)), acting_rows=500)
    quiet(ActingOnBatchOne(), timing(CODE, ALL, networks=(network,), yardstick=HERE))
