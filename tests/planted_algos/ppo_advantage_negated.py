"""Advantages enter the loss with the wrong sign: V(s) − return."""

ALGO = "ppo"
REPLACE = [
    (
        'adv = mb["advantage"]',
        'adv = -mb["advantage"]',
    ),
]
RUNG = "action-reward"
EXPECT = "POL013"
SUSPECT = "policy-loss"
ALSO = {
    "advantage": "the sign of the advantage and that of the policy loss cannot be told apart from outside",
}
QUICK = True
