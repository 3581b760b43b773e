"""The entropy bonus has a hundred times its weight."""

ALGO = "a2c"
REPLACE = [
    (
        "loss = policy_loss + settings.value_coef * value_loss\n",
        "loss = policy_loss + settings.value_coef * value_loss - 3.0 * policy.entropy().mean()\n",
    ),
]
RUNG = "action-reward"
EXPECT = "ENT007"
SUSPECT = "entropy"
