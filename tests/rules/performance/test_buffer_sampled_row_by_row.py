from __future__ import annotations

import pytest

from rldebug.evidence.timing import Measured
from rldebug.rules.performance.buffer_sampled_row_by_row import BufferSampledRowByRow
from tests.judge import quiet
from tests.rules.timings import by_line, on, points_at_line, timing, yardstick

SAMPLE = {"part": "buffer sample", "before": "step", "after": "backward"}

DEQUE = """
    import random
    from collections import deque

    import numpy as np
    import torch

    class Replay:
        def __init__(self):
            self.rows = deque(maxlen=100_000)

        def push(self, *row):
            self.rows.append(row)

        def sample(self, size):
            batch = random.sample(self.rows, size)  # drawn
            obs, actions, rewards = zip(*batch)  # parted
            return torch.tensor(np.array(obs)), torch.tensor(rewards)  # stacked

    replay = Replay()
    while True:
        replay.push(*env.step(act(obs)))
        loss(*replay.sample(64)).backward()
"""

LOOKED_UP = """
    import numpy as np

    buffer = []
    while True:
        buffer.append(env.step(act(obs)))
        index = np.random.randint(0, len(buffer), 64)
        batch = [buffer[i] for i in index]  # here
        loss(np.array([row[0] for row in batch])).backward()  # columns
"""

IN_A_LOOP = """
    import random

    def sample(n):
        states, rewards = [], []
        for row in random.sample(memory, n):
            states.append(row.state)  # here
            rewards.append(row.reward)
        return states, rewards

    while True:
        memory.append(env.step(act(obs)))
        loss(sample(64)).backward()
"""


NAMED = """
    import random
    from collections import deque, namedtuple

    import torch

    Transition = namedtuple("Transition", "state action next_state reward")

    class Memory:
        def __init__(self, size):
            self.memory = deque([], maxlen=size)

        def push(self, *given):
            self.memory.append(Transition(*given))

        def sample(self, size):
            return random.sample(self.memory, size)

    memory = Memory(10_000)

    def optimise():
        transitions = memory.sample(128)
        batch = Transition(*zip(*transitions))  # parted
        kept = torch.cat([s for s in batch.next_state if s is not None])  # kept
        states = torch.cat(batch.state)  # here
        loss(states, kept).backward()

    while True:
        memory.push(*env.step(act(obs)))
        optimise()
"""


def test_fires_on_named_tuples():
    parts = [on("parted", 0.5, called="zip", **SAMPLE), on("kept", 0.5, **SAMPLE), on("here", 1.0, **SAMPLE)]
    finding = points_at_line(BufferSampledRowByRow(), timing(NAMED, parts), "here")
    assert finding.speedup == pytest.approx(10 / (10 - 0.85 * 2))


def test_fires_on_a_deque_of_tuples():
    stacked = on("stacked", 1.0, called="numpy.array", **SAMPLE)
    parts = [on("drawn", 2.0, **SAMPLE), on("parted", 0.5, **SAMPLE), stacked]
    finding = points_at_line(BufferSampledRowByRow(), timing(DEQUE, parts), "drawn")
    assert finding.speedup == pytest.approx(10 / (10 - 0.85 * 3.5))
    assert finding.seen == "3.5 ms per update, 35 % of the run"


def test_fires_with_what_it_could_take_here():
    known = Measured("rollout_buffer", "rldebug.parts.buffers.Replay.sample", 9e-5, None, {"sample": 5e-5})
    made = timing(DEQUE, [on("drawn", 2.0, **SAMPLE)], yardstick=yardstick(known))
    finding = points_at_line(BufferSampledRowByRow(), made, "drawn")
    assert finding.speedup == pytest.approx(10 / 8.05)
    assert "0.05 ms for a batch" in finding.expected


def test_fires_on_rows_that_are_looked_up_one_by_one():
    made = timing(LOOKED_UP, [on("here", 2.0, **SAMPLE), on("columns", 1.0, called="numpy.array", **SAMPLE)])
    assert points_at_line(BufferSampledRowByRow(), made, "here").speedup == pytest.approx(10 / (10 - 0.85 * 3))


def test_fires_on_columns_that_are_filled_in_a_loop():
    points_at_line(BufferSampledRowByRow(), timing(IN_A_LOOP, [on("here", 2.0, **SAMPLE)]), "here")


def test_quiet_where_it_takes_little():
    quiet(BufferSampledRowByRow(), timing(DEQUE, [on("drawn", 0.5, **SAMPLE)]))


ARRAYS = """
    import random

    import numpy as np
    import torch

    class Replay:
        def add(self, row):
            self.obs[self.at] = row[0]
            self.rewards[self.at] = row[1]

        def sample(self, size):
            index = np.random.randint(0, self.size, size)  # index
            rows = random.sample(range(self.size), size)  # numbers
            return torch.as_tensor(self.obs[index]), torch.as_tensor(self.rewards[rows])  # read

    replay = Replay()
    for update in range(1000):
        replay.add(env.step(act(obs)))
        data = replay.sample(64)
        order = np.random.permutation(2048)
        for start in range(0, 2048, 64):
            batch = obs[order[start : start + 64]]  # minibatch
            loss(batch).backward()
        for index in torch.randperm(2048).split(64):
            batch = obs[index]  # split
            loss(batch).backward()
        pieces = [obs[index] for index in np.array_split(order, 8)]  # pieces
"""


@pytest.mark.parametrize("marker", ["index", "numbers", "read", "minibatch", "split", "pieces"])
def test_quiet_about_arrays_that_are_indexed_at_once(marker):
    quiet(BufferSampledRowByRow(), timing(ARRAYS, [on(marker, 3.0, **SAMPLE)]))


def test_quiet_about_lists_that_are_used_whole():
    """A rollout that is stacked is what buffer-stacked-from-list is about."""
    code = """
    import numpy as np

    rollout = []
    while True:
        rollout.append(env.step(act(obs)))
        states = np.array([step[0] for step in rollout])  # here
        loss(states).backward()
    """
    quiet(BufferSampledRowByRow(), timing(code, [on("here", 3.0, **SAMPLE)]))


@pytest.mark.parametrize(
    ("code", "marker"), [(DEQUE, "drawn"), (NAMED, "here"), (LOOKED_UP, "here"), (IN_A_LOOP, "here")]
)
def test_fires_where_only_the_line_is_known(code, marker):
    points_at_line(BufferSampledRowByRow(), by_line(timing(code, [on(marker, 2.0, **SAMPLE)])), marker)


PICKED = """
    import torch

    class Memory:
        def __init__(self):
            self.rows = []

        def push(self, *row):
            self.rows += list(zip(*row))

        def batch(self, which):
            picked = [self.rows[k] for k in which]  # picked
            return [torch.stack(column) for column in zip(*picked)]  # here

    memory = Memory()
    for which in torch.randperm(1024).split(256):
        memory.push(*env.step(act(obs)))
        loss(*memory.batch(which)).backward()
"""


def test_fires_on_rows_of_a_list_that_a_split_permutation_picks():
    parts = [on("picked", 0.5, **SAMPLE), on("here", 2.0, called="torch.stack", **SAMPLE)]
    finding = points_at_line(BufferSampledRowByRow(), timing(PICKED, parts), "here")
    assert finding.speedup == pytest.approx(10 / (10 - 0.85 * 2.5))


MINIBATCHES = """
    import numpy as np

    def learn(batch):
        loss(batch).backward()  # learns

    for _ in range(10):
        for index in np.random.permutation(1024).reshape(4, 256):
            learn((obs[index], actions[index]))  # here
"""


def test_quiet_where_each_round_learns_from_a_batch():
    learns = on("learns", 2.0, part="backward", before="backward", after="update")
    quiet(BufferSampledRowByRow(), timing(MINIBATCHES, [on("here", 2.0, **SAMPLE), learns]))
