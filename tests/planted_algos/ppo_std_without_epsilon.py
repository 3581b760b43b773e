"""Advantages are divided by their deviation, which is 0 where all are equal (ADV-08)."""

ALGO = "ppo"
REPLACE = [
    (
        "adv = (adv - adv.mean()) / (adv.std() + 1e-8)",
        "adv = (adv - adv.mean()) / adv.std()",
    ),
]
RUNG = "constant-reward"
EXPECT = "ADV010"
SUSPECT = "advantage"
ALSO = {
    "normalisation": "it is the normalising that divides",
}
