"""An end is not masked: the value of the next episode's first state is added (RWD-07)."""

ALGO = "ppo"
REPLACE = [
    (
        'value,\n                batch["terminated"],\n                batch["truncated"],\n',
        'value,\n                torch.zeros_like(batch["terminated"]),\n                batch["truncated"],\n',
    ),
]
RUNG = "constant-reward"
EXPECT = "DIS010"
SUSPECT = "discounting"
QUICK = True
