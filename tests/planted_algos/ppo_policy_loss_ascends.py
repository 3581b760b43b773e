"""The surrogate is minimised: its minus is missing."""

ALGO = "ppo"
REPLACE = [
    (
        "policy_loss = -surrogate.mean()",
        "policy_loss = surrogate.mean()",
    ),
]
RUNG = "action-reward"
EXPECT = "POL013"
SUSPECT = "policy-loss"
CONTROLS = True
