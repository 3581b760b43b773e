"""The value is fitted to minus the return: an error added where it should be subtracted."""

ALGO = "ppo"
REPLACE = [
    (
        'value_loss = (value - mb["target"])',
        'value_loss = (value + mb["target"])',
    ),
]
RUNG = "constant-reward"
EXPECT = "VAL014"
SUSPECT = "value-loss"
