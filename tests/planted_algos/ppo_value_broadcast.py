"""(B, 1) values minus (B,) targets: every value is drawn to the mean of the batch (VAL-08)."""

ALGO = "ppo"
REPLACE = [
    (
        'value_loss = (value - mb["target"])',
        'value_loss = (value.unsqueeze(-1) - mb["target"])',
    ),
]
RUNG = "observed-reward"
EXPECT = "VAL011"
SUSPECT = "value-loss"
CONTROLS = True
QUICK = True
