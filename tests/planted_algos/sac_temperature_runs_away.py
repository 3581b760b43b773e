"""The temperature's loss has the wrong sign: it rises where the policy is random enough (ENT-15)."""

ALGO = "sac"
REPLACE = [
    (
        "(temperature.log * excess).backward()",
        "(-temperature.log * excess).backward()",
    ),
]
RUNG = "action-reward"
EXPECT = "ENT007"
SUSPECT = "entropy"
