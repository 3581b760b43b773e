"""Advantages are collected from the last step to the first, and never turned round (RWD-05)."""

ALGO = "a2c"
REPLACE = [
    (
        "adv, target = advantage.flatten(), target.flatten()",
        "adv, target = advantage.flip(0).flatten(), target.flatten()",
    ),
]
RUNG = "action-reward"
EXPECT = "POL015"
SUSPECT = "policy-loss"
ALSO = {
    "advantage": "the advantages are those of other steps",
    "buffer": "rows are in two orders",
}
