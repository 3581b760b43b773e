"""Value clipping clips the value itself around 0, not its change (VAL-01)."""

ALGO = "ppo"
REPLACE = [
    (
        'value_loss = (value - mb["target"])',
        'value_loss = (value.clamp(-0.2, 0.2) - mb["target"])',
    ),
]
RUNG = "constant-reward"
EXPECT = "VAL010"
SUSPECT = "value-loss"
