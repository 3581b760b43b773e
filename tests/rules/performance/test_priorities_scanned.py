from __future__ import annotations

import pytest

from rldebug.evidence.timing import Measured
from rldebug.rules.performance.priorities_scanned import PrioritiesScanned
from tests.judge import quiet
from tests.rules.timings import by_line, on, points_at_line, timing, yardstick

SAMPLE = {"part": "buffer sample", "before": "step", "after": "backward"}
TREE = yardstick(Measured("prioritised", "rldebug.parts.buffers.PrioritisedReplay, sample and update of 64", 1e-4))

CHOICE = """
    import numpy as np

    class Replay:
        def sample(self, size):
            scaled = self.priorities[: self.size] ** 0.6  # powers
            chances = scaled / scaled.sum()  # shares
            index = np.random.choice(self.size, size, p=chances)  # here
            return self.obs[index]  # rows

    replay = Replay()
    while True:
        replay.add(env.step(act(obs)))
        loss(replay.sample(64)).backward()
"""

MULTINOMIAL = """
    import torch

    while True:
        env.step(act(obs))
        index = torch.multinomial(priorities.pow(0.6), 64)  # here
        loss(rows[index]).backward()
"""

SEARCHED = """
    import numpy as np

    while True:
        env.step(act(obs))
        sums = np.cumsum(priorities)  # here
        index = np.searchsorted(sums, np.random.rand(64) * sums[-1])
        loss(rows[index]).backward()
"""

LINEAR = """
    import random

    def draw():
        left = random.random() * total
        running = 0.0
        for i, each in enumerate(priorities):
            running += each  # here
            if running > left:
                break
        return i

    while True:
        env.step(act(obs))
        loss([draw() for _ in range(64)]).backward()
"""

SORTED = """
    import random

    while True:
        env.step(act(obs))
        ranked = sorted(memory, key=lambda row: row[0])  # here
        loss(random.sample(ranked[:1000], 64)).backward()
"""

RECURSIVE = """
    class SumTree:
        def _retrieve(self, idx, s):
            left = 2 * idx + 1  # child
            if left >= len(self.tree):
                return idx
            if s <= self.tree[left]:
                return self._retrieve(left, s)  # here
            return self._retrieve(left + 1, s - self.tree[left])

        def _propagate(self, idx, change):
            parent = (idx - 1) // 2
            self.tree[parent] += change  # renewed
            if parent != 0:
                self._propagate(parent, change)

    tree = SumTree()
    while True:
        env.step(act(obs))
        loss([tree._retrieve(0, random() * tree.total) for _ in range(64)]).backward()
"""

WALKED = """
    class SumTree:
        def get(self, value):
            place = 0
            while place < self.leaves:
                left = 2 * place + 1
                if value <= self.tree[left]:
                    place = left  # here
                else:
                    value -= self.tree[left]
                    place = left + 1
            return place

    tree = SumTree()
    while True:
        env.step(act(obs))
        loss([tree.get(each) for each in drawn]).backward()
"""


@pytest.mark.parametrize("code", [CHOICE, MULTINOMIAL, SEARCHED, LINEAR, SORTED, RECURSIVE, WALKED])
def test_fires_on_scans_and_on_trees_in_python(code):
    finding = points_at_line(PrioritiesScanned(), timing(code, [on("here", 2.0, **SAMPLE)]), "here")
    assert finding.speedup == pytest.approx(10 / 8.4)
    assert finding.seen == "2 ms per update, 20 % of the run"
    assert ("walked" in finding.message) == (code in (RECURSIVE, WALKED))


def test_fires_on_all_that_the_draw_is_computed_from():
    parts = [on("powers", 1.0, **SAMPLE), on("shares", 0.5, **SAMPLE), on("here", 2.0, **SAMPLE)]
    finding = points_at_line(PrioritiesScanned(), timing(CHOICE, parts, yardstick=TREE), "here")
    assert finding.speedup == pytest.approx(10 / (6.5 + 1000 * 1e-4))
    assert "PrioritisedReplay" in finding.expected


def test_fires_on_priorities_that_are_renewed_in_the_same_tree():
    renewed = on("renewed", 1.0, part="other", before="update", after="step")
    finding = points_at_line(PrioritiesScanned(), timing(RECURSIVE, [on("here", 2.0, **SAMPLE), renewed]), "here")
    assert finding.speedup == pytest.approx(10 / 7.6)


def test_quiet_where_it_takes_little():
    quiet(PrioritiesScanned(), timing(CHOICE, [on("here", 0.5, **SAMPLE)], yardstick=TREE))


def test_quiet_about_rows_that_are_read():
    quiet(PrioritiesScanned(), timing(CHOICE, [on("rows", 4.0, **SAMPLE)]))


UNIFORM = """
    import numpy as np

    while True:
        env.step(act(obs))
        index = np.random.choice(size, 64)  # uniform
        order = np.argsort(np.random.rand(size))  # shuffled
        for k in range(3):
            target += gamma**k * rewards[index + k]  # steps
        loss(rows[index]).backward()
"""


@pytest.mark.parametrize("marker", ["uniform", "steps", "shuffled"])
def test_quiet_about_uniform_draws(marker):
    quiet(PrioritiesScanned(), timing(UNIFORM, [on(marker, 4.0, **SAMPLE)]))


def test_quiet_about_other_trees():
    """Of a planner, say: no batch is taken from it."""
    other = on("here", 4.0, part="other", before="step", after="step")
    quiet(PrioritiesScanned(), timing(RECURSIVE, [other]))


OF_A_POLICY = """
    import numpy as np
    import torch

    def net(x):
        return torch.tanh(x @ weights)  # network

    while True:
        one = torch.multinomial(net(obs), 1)  # one
        several = torch.multinomial(net(obs).softmax(-1), 8)  # several
        alone = np.random.choice(4, p=chances)  # alone
        asked = weights_of(obs).multinomial(1)  # asked
        loss(one, several, alone, asked).backward()
"""


@pytest.mark.parametrize("marker", ["network", "one", "several", "alone", "asked"])
def test_quiet_about_draws_from_a_policy(marker):
    quiet(PrioritiesScanned(), timing(OF_A_POLICY, [on(marker, 4.0, **SAMPLE)]))


def test_quiet_about_actions_that_are_drawn():
    acting = on("here", 4.0, part="acting", before="step", after="step")
    quiet(PrioritiesScanned(), timing(MULTINOMIAL, [acting]))


@pytest.mark.parametrize("code", [CHOICE, MULTINOMIAL, SEARCHED, LINEAR, SORTED, RECURSIVE, WALKED])
def test_fires_where_only_the_line_is_known(code):
    points_at_line(PrioritiesScanned(), by_line(timing(code, [on("here", 2.0, **SAMPLE)])), "here")
