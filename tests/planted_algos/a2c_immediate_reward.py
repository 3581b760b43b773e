"""The critic's target is the reward of the step alone (ADV-21)."""

ALGO = "a2c"
REPLACE = [
    (
        "adv, target = advantage.flatten(), target.flatten()",
        "adv, target = (rewards - seen).flatten(), rewards.flatten()",
    ),
]
RUNG = "delayed-reward"
EXPECT = "DIS011"
SUSPECT = "discounting"
