"""Value targets are cast to the dtype of the actions: 0.99 becomes 0 (VAL-05)."""

ALGO = "ppo"
REPLACE = [
    (
        '"target": target.flatten()}',
        '"target": target.flatten().long().float()}',
    ),
]
RUNG = "delayed-reward"
EXPECT = "DIS011"
SUSPECT = "value-loss"
ALSO = {
    "discounting": "rewards of 0 and 1 survive the cast, and what is discounted does not",
}
