"""The learning rate is annealed by a fraction that is 1 from the start."""

ALGO = "dqn"
REPLACE = [
    (
        "        if settings.anneal:\n",
        "        if True:\n",
    ),
    (
        "settings.lr * (1.0 - run.fraction)",
        "settings.lr * 0.0",
    ),
]
RUNG = "constant-reward"
EXPECT = "OPT010"
SUSPECT = "optimizer"
