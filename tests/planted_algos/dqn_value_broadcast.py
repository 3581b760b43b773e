"""(B, 1) values minus (B,) targets: Q becomes the mean of the batch (VAL-08)."""

ALGO = "dqn"
REPLACE = [
    (
        "loss = F.smooth_l1_loss(value, target)\n",
        "loss = F.smooth_l1_loss(value.unsqueeze(-1).expand(-1, len(target)), target.expand(len(target), -1))\n",
    ),
]
RUNG = "observed-reward"
EXPECT = "VAL011"
SUSPECT = "value-loss"
