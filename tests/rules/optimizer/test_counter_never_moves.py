import pytest

from rldebug.rules.optimizer.counter_never_moves import CounterNeverMoves
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
updates = 0
for batch in data:
    learn(batch)
    if updates % 100 == 0:  # here
        sync()
""",
        """
for batch in data:
    updates = 0
    learn(batch)
    updates += 1
    if updates % 100 == 0:  # here
        sync()
""",
        """
class Agent:
    def __init__(self):
        self.learned = 0

    def learn(self, batch):
        self.step(batch)
        if self.learned % self.every == 0:  # here
            self.sync()
""",
    ],
)
def test_fires_where_the_counter_stays(code):
    points_at(CounterNeverMoves(), code)


@pytest.mark.parametrize(
    "code",
    [
        "n = 0\nfor b in data:\n    n += 1\n    if n % 100 == 0:\n        sync()",
        "for n in range(100):\n    if n % 10 == 0:\n        sync()",
        "for b in data:\n    n = 0\n    for row in b:\n        n += 1\n        if n % 10 == 0:\n            sync()",
        "def f(n):\n    while True:\n        if n % 10 == 0:\n            sync()",
        "n = 0\nfor b in data:\n    n = count(b)\n    if n % 100 == 0:\n        sync()",
        "class A:\n    def __init__(self):\n        self.n = 0\n    def learn(self):\n        self.n += 1\n"
        "        if self.n % 5 == 0:\n            self.sync()",
        "class A(Callback):\n    def __init__(self):\n        self.n = 0\n    def call(self):\n"
        "        if self.n % 5 == 0:\n            self.sync()",
        "class A:\n    def __init__(self):\n        self.n = 0\n    def learn(self):\n        if self.n % 5 == 0:\n"
        "            self.sync()\na = A()\na.n += 1",
        "n = 0\ndef tick():\n    global n\n    n += 1\nwhile True:\n    tick()\n    if n % 9 == 0:\n        sync()",
        "size = 12\nfor k in ks:\n    if size % k == 0:\n        found.append(k)",
    ],
)
def test_quiet_where_it_moves_or_may(code):
    quiet(CounterNeverMoves(), text(code))
