"""(critics, B, 1) values minus (B,) targets (VAL-08)."""

ALGO = "sac"
REPLACE = [
    (
        "value_loss = (q - target).square().mean(-1).sum()",
        "value_loss = (q.unsqueeze(-1) - target).square().mean((-1, -2)).sum()",
    ),
]
RUNG = "observed-reward"
EXPECT = "VAL011"
SUSPECT = "value-loss"
