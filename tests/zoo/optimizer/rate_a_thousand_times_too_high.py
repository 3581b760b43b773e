"""The exponent of the learning rate is lost: 1 for 1e-3."""

BASE = "dqn"
REPLACE = [
    ('"lr": 1e-3', '"lr": 1.0'),
]
EXPECT = "OPT004"
TRAIN = {"updates": 300}
