"""The policy looks for the least value: the sign of Q in its loss is wrong."""

ALGO = "sac"
REPLACE = [
    (
        "policy_loss = (alpha * logp - critics(",
        "policy_loss = (alpha * logp + critics(",
    ),
]
RUNG = "action-reward"
EXPECT = "POL013"
SUSPECT = "policy-loss"
