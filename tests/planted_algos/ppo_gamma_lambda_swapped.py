"""γ and λ are passed in each other's place (RWD-09)."""

ALGO = "ppo"
REPLACE = [
    (
        "                gamma=settings.gamma,\n                lam=settings.lam,",
        "                gamma=settings.lam,\n                lam=settings.gamma,",
    ),
]
RUNG = "truncated-episode"
EXPECT = "DIS012"
SUSPECT = "discounting"
