"""The optimizer is never stepped."""

ALGO = "ppo"
REPLACE = [
    (
        "                optimizer.step()\n",
        "",
    ),
]
RUNG = "constant-reward"
EXPECT = "OPT010"
SUSPECT = "optimizer"
