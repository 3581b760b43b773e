import pytest

from rldebug.rules.performance.array_grown_by_copying import ArrayGrownByCopying
from tests.judge import quiet
from tests.rules.sources import points_at, text

HEAD = """
import numpy as np
import torch
import gymnasium
env = gymnasium.make("CartPole-v1")
o, _ = env.reset()
"""


@pytest.mark.parametrize(
    "code",
    [
        """
rewards = np.array([])
for _ in range(1000):
    o, r, done, cut, _ = env.step(0)
    rewards = np.append(rewards, r)  # here
""",
        """
def collect(steps):
    seen = torch.empty(0, 4)
    while len(seen) < steps:
        o, r, done, cut, _ = env.step(0)
        seen = torch.cat([seen, torch.as_tensor(o)[None]])  # here
    return seen
""",
    ],
)
def test_fires_where_everything_is_copied(code):
    points_at(ArrayGrownByCopying(), HEAD + code)


@pytest.mark.parametrize(
    "code",
    [
        "rows = []\nfor _ in range(9):\n    o, r, d, t, _ = env.step(0)\n    rows.append(o)\nall = np.stack(rows)",
        "for _ in range(9):\n    o, r, d, t, _ = env.step(0)\n    x = np.zeros(4)\n    x = np.concatenate([x, o])",
        "x = np.zeros(4)\nfor row in rows:\n    x = np.concatenate([x, row])",
        "x = np.zeros(4)\nfor _ in range(9):\n    o, r, d, t, _ = env.step(0)\n    y = np.concatenate([x, o])",
    ],
)
def test_quiet_where_nothing_grows(code):
    quiet(ArrayGrownByCopying(), text(HEAD + code))
