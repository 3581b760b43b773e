"""The target network loads its own weights (TGT-02)."""

ALGO = "dqn"
REPLACE = [
    (
        "soft_update(target_q, q, settings.tau)",
        "soft_update(target_q, target_q, settings.tau)",
    ),
]
RUNG = "truncated-episode"
EXPECT = "TGT005"
SUSPECT = "target-network"
