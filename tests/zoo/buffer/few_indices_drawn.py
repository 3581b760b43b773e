"""The batch is drawn from the newest few rows, not from all that the buffer has."""

BASE = "dqn"
REPLACE = [
    (
        "rows = self.rng.integers(0, len(self), size=n)",
        "rows = len(self) - n // 4 + self.rng.integers(0, n // 4, size=n)",
    ),
]
EXPECT = "BUF008"
TRAIN = {"updates": 1000}
