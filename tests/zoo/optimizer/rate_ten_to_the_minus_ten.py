"""A learning rate of 1e-10 for one of 1e-3."""

BASE = "dqn"
REPLACE = [
    ('"lr": 1e-3', '"lr": 1e-10'),
]
EXPECT = "OPT005"
TRAIN = {"updates": 200}
