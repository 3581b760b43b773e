"""An end is not masked (RWD-07)."""

ALGO = "sac"
REPLACE = [
    (
        "target = batch.reward + batch.discount *",
        "target = batch.reward + settings.gamma *",
    ),
]
RUNG = "constant-reward"
EXPECT = "DIS010"
SUSPECT = "discounting"
