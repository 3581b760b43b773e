"""The entropy bonus is summed over the batch, not averaged: it drowns the surrogate."""

ALGO = "ppo"
REPLACE = [
    (
        "- settings.entropy_coef * entropy_now",
        "- 0.1 * len(adv) * entropy_now",
    ),
]
RUNG = "action-reward"
EXPECT = "ENT007"
SUSPECT = "entropy"
