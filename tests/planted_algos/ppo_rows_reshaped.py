"""What comes after the rollout is that of a neighbour: values in the order of another axis (BUF-19)."""

ALGO = "ppo"
REPLACE = [
    (
        "last_value=last_value,",
        "last_value=last_value.roll(1),",
    ),
]
RUNG = "side-by-side"
EXPECT = "BUF015"
SUSPECT = "buffer"
CONTROLS = True
