"""An end is not masked: γ max Q of the last observation is added (RWD-07)."""

ALGO = "dqn"
REPLACE = [
    (
        "target = batch.reward + batch.discount *",
        "target = batch.reward + settings.gamma *",
    ),
]
RUNG = "constant-reward"
EXPECT = "DIS010"
SUSPECT = "discounting"
