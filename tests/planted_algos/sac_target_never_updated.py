"""The target critics are never moved (TGT-03)."""

ALGO = "sac"
REPLACE = [
    (
        "                soft_update(target_critics, critics, settings.tau)\n",
        "",
    ),
]
RUNG = "delayed-reward"
EXPECT = "TGT005"
SUSPECT = "target-network"
