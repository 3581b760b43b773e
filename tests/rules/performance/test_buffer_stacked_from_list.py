from __future__ import annotations

import pytest

from rldebug.evidence.timing import Measured
from rldebug.rules.performance.buffer_stacked_from_list import BufferStackedFromList
from tests.judge import quiet
from tests.rules.timings import NETWORK, by_line, on, points_at_line, timing, yardstick

ROLLOUT = {"part": "advantages", "before": "step", "after": "backward"}

STACKED = """
    import torch

    class Memory:
        def __init__(self):
            self.states = []

        def add(self, state):
            self.states.append(state)

    memory = Memory()
    for update in range(100):
        for t in range(2048):
            state, reward, done, _, _ = env.step(act(state))
            memory.add(torch.as_tensor(state))
        states = torch.stack(memory.states)  # here
        learn(states).backward()
"""

OF_TUPLES = """
    import numpy as np

    for update in range(100):
        rollout = []
        for t in range(2048):
            state, reward, done, _, _ = env.step(act(state))
            rollout.append((state, reward))
        states = np.array([step[0] for step in rollout])  # here
        learn(states).backward()
"""

NUMBERS = """
    import torch

    def learn(rewards):
        returns = torch.tensor(rewards, dtype=torch.float32)  # here
        returns.sum().backward()

    rewards = []
    while True:
        state, reward, done, _, _ = env.step(act(state))
        rewards.append(reward)
        if done:
            learn(rewards)
"""


EPSILON_GREEDY = """
    import random

    import torch

    actions = []
    while True:
        action = random.randrange(4)
        actions.append(action)
        env.step(action)
        loss(torch.tensor(actions)).backward()  # here
"""


@pytest.mark.parametrize("code", [STACKED, OF_TUPLES, NUMBERS, EPSILON_GREEDY])
def test_fires_on_lists_that_were_filled_step_by_step(code):
    finding = points_at_line(BufferStackedFromList(), timing(code, [on("here", 2.0, **ROLLOUT)]), "here")
    assert finding.speedup == pytest.approx(10 / 8.2)
    assert "200 ms per rollout" in finding.seen
    assert "20 % of the run" in finding.seen


def test_fires_with_what_it_could_take_here():
    costs = {"take": 0.05, "sample": 1e-4}
    known = yardstick(Measured("rollout_buffer", "rldebug.parts.buffers.RolloutBuffer, 2048 × 1", 0.05, None, costs))
    made = timing(STACKED, [on("here", 2.0, **ROLLOUT)], yardstick=known)
    assert points_at_line(BufferStackedFromList(), made, "here").speedup == pytest.approx(10 / 8.5)


def test_fires_on_stacks_in_every_update():
    again = on("here", 2.0, part="loss", before="update", after="backward")
    finding = points_at_line(BufferStackedFromList(), timing(STACKED, [again]), "here")
    assert "per update" in finding.seen
    assert "once per rollout" in finding.help


def test_quiet_where_it_takes_little():
    quiet(BufferStackedFromList(), timing(STACKED, [on("here", 0.5, **ROLLOUT)]))


HEALTHY = """
    import random
    import torch

    networks = []
    networks.append(critic)
    replay = []
    for update in range(100):
        obs[update], reward, done, _, _ = env.step(act(obs))
        replay.append(obs[update])
        joined = torch.cat([obs, actions], dim=-1)  # two
        values = torch.stack([network(obs) for network in networks])  # networks
        array = torch.as_tensor(obs)  # array
        batch = random.sample(replay, 32)
        drawn = torch.stack(batch)  # drawn
        made = torch.tensor(replay)
        again = torch.as_tensor(made)  # tensor
        learn(joined, values, array).backward()
"""


@pytest.mark.parametrize("marker", ["two", "networks", "array", "drawn", "tensor"])
def test_quiet_about_what_is_no_list_of_steps(marker):
    quiet(BufferStackedFromList(), timing(HEALTHY, [on(marker, 3.0, part="loss", before="update", after="backward")]))


def test_quiet_about_stacks_between_steps():
    """Frames that are stacked for the next action are no buffer."""
    quiet(BufferStackedFromList(), timing(STACKED, [on("here", 3.0, part="copies", before="step", after="step")]))


def test_quiet_about_networks_that_are_called_there():
    quiet(BufferStackedFromList(), timing(OF_TUPLES, [on("here", 3.0, below=[NETWORK], **ROLLOUT)]))


@pytest.mark.parametrize("code", [STACKED, OF_TUPLES, NUMBERS, EPSILON_GREEDY])
def test_fires_where_only_the_line_is_known(code):
    points_at_line(BufferStackedFromList(), by_line(timing(code, [on("here", 2.0, **ROLLOUT)])), "here")
