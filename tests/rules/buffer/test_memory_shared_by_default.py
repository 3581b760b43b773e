import pytest

from rldebug.rules.buffer.memory_shared_by_default import MemorySharedByDefault
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        class Agent:
            def __init__(self, env, memory=[]):  # here
                self.env = env
                self.memory = memory
            def store(self, row):
                self.memory.append(row)
        """,
        """
        from collections import deque
        def collect(env, policy, into=deque(maxlen=1000)):  # here
            for row in play(env, policy):
                into.append(row)
            return into
        """,
        """
        class Table:
            def __init__(self, *, values={}):  # here
                self.q = values
            def update(self, key, value):
                self.q[key] = value
        """,
    ],
)
def test_fires_where_it_is_filled(code):
    points_at(MemorySharedByDefault(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        class Agent:
            def __init__(self, layers=[64, 64], memory=None):
                self.layers = layers
                self.memory = [] if memory is None else memory
            def store(self, row):
                self.memory.append(row)
        """,
        """
        def build(hidden=[]):
            return [width for width in hidden]
        """,
        """
        class Agent:
            def __init__(self, rows=[]):
                self.rows = list(rows)
            def store(self, row):
                self.rows.append(row)
        """,
        """
        def build(extra=[]):
            extra = extra + [1]
            extra.append(2)
            return extra
        """,
    ],
)
def test_quiet_where_it_is_only_read(code):
    quiet(MemorySharedByDefault(), text(code))
