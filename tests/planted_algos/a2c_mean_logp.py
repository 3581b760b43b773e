"""The mean log-probability is multiplied with the advantages: no credit for single steps (POL-03)."""

ALGO = "a2c"
REPLACE = [
    (
        "policy_loss = -(logp * adv).mean()",
        "policy_loss = -(logp.mean() * adv).mean()",
    ),
]
RUNG = "action-reward"
EXPECT = "POL015"
SUSPECT = "policy-loss"
