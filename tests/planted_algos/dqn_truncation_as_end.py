"""A time limit counts as an end."""

ALGO = "dqn"
REPLACE = [
    (
        "target = batch.reward + batch.discount *",
        "target = batch.reward + batch.discount * ~batch.truncated *",
    ),
]
RUNG = "truncated-episode"
EXPECT = "DIS013"
SUSPECT = "discounting"
