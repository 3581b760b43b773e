"""(B, 1) values minus (B,) targets (VAL-08)."""

ALGO = "a2c"
REPLACE = [
    (
        "value_loss = (value - target)",
        "value_loss = (value.unsqueeze(-1) - target)",
    ),
]
RUNG = "observed-reward"
EXPECT = "VAL011"
SUSPECT = "value-loss"
