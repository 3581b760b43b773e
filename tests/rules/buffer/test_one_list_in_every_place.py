import pytest

from rldebug.rules.buffer.one_list_in_every_place import OneListInEveryPlace
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        seen, done = [[]] * 2  # here
        for row in rows:
            seen.append(row[0])
            done.append(row[1])
        """,
        """
        class Shelf:
            def __init__(self, names):
                self.rows = dict.fromkeys(names, [])  # here
            def add(self, **row):
                for name, value in row.items():
                    self.rows[name].append(value)
        """,
        """
        def collect(envs, n):
            episodes = [[]] * n  # here
            for i in range(n):
                episodes[i].append(envs[i].reset())
            return episodes
        """,
        """
        from collections import deque
        class Buffers:
            def __init__(self, agents):
                self.queues = len(agents) * [deque(maxlen=100)]  # here
            def add(self, agent, item):
                self.queues[agent].append(item)
        """,
        """
        import numpy as np
        rows = [np.zeros(4)] * 3  # here
        for i, row in enumerate(data):
            rows[i][:] = row
        """,
        """
        def gather(n, stream):
            kept = [{}] * n  # here
            for lane, store in enumerate(kept):
                store["first"] = stream[lane]
        """,
    ],
)
def test_fires_where_single_places_are_filled(code):
    points_at(OneListInEveryPlace(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        seen, done = [[] for _ in range(2)]
        seen.append(1)
        done.append(2)
        """,
        """
        seen, _ = [[]] * 2
        seen.append(1)
        """,
        """
        rows = dict.fromkeys(names, [])
        for name in names:
            rows[name] = load(name)
        """,
        """
        best = dict.fromkeys(names, 0)
        best["a"] += 1
        """,
        """
        x = [[] for _ in range(4)]
        x[0].append(1)
        """,
        """
        x = [[]] * 4
        x[0] = [1]
        """,
        """
        x = [0.0] * 4
        x[1] += 2
        """,
        """
        x = [None] * 4
        x[2] = []
        """,
        """
        x = [[]] * 4
        print(len(x[0]))
        """,
        """
        x = [[]] * 1
        x[0].append(2)
        """,
        """
        x = [()] * 3
        x[0].append(1)
        """,
    ],
)
def test_quiet_where_places_are_replaced_or_only_read(code):
    quiet(OneListInEveryPlace(), text(code))
