"""An end is not masked (RWD-07)."""

ALGO = "a2c"
REPLACE = [
    (
        'seen,\n                    batch["terminated"],\n                    batch["truncated"],\n',
        'seen,\n                    torch.zeros_like(batch["terminated"]),\n                    batch["truncated"],\n',
    ),
]
RUNG = "constant-reward"
EXPECT = "DIS010"
SUSPECT = "discounting"
