"""The policy loss lacks its minus."""

ALGO = "a2c"
REPLACE = [
    (
        "policy_loss = -(logp * adv).mean()",
        "policy_loss = (logp * adv).mean()",
    ),
]
RUNG = "action-reward"
EXPECT = "POL013"
SUSPECT = "policy-loss"
