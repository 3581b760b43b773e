"""The value loss is absolute, not squared: it finds the median."""

ALGO = "ppo"
REPLACE = [
    (
        'value_loss = (value - mb["target"]).square().mean()',
        'value_loss = (value - mb["target"]).abs().mean()',
    ),
]
RUNG = "noisy-reward"
EXPECT = "VAL013"
SUSPECT = "value-loss"
CONTROLS = True
