"""The value loss is maximised: its sign in the sum is wrong."""

ALGO = "ppo"
REPLACE = [
    (
        "+ settings.value_coef * value_loss",
        "- settings.value_coef * value_loss",
    ),
]
RUNG = "constant-reward"
EXPECT = "VAL012"
SUSPECT = "value-loss"
CONTROLS = True
