"""The optimizer's step is missing."""

BASE = "ppo_discrete"
REPLACE = [
    ("                    optimizer.step()\n", ""),
]
EXPECT = "OPT007"
TRAIN = {"updates": 12}
