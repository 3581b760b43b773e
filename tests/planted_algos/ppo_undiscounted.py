"""γ is not used in the returns (RWD-06)."""

ALGO = "ppo"
REPLACE = [
    (
        "                gamma=settings.gamma,\n                lam=settings.lam,",
        "                gamma=1.0,\n                lam=settings.lam,",
    ),
]
RUNG = "delayed-reward"
EXPECT = "DIS012"
SUSPECT = "discounting"
