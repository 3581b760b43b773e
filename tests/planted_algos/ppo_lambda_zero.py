"""λ is not handed on: one-step advantages whatever the settings say (RWD-09)."""

ALGO = "ppo"
REPLACE = [
    (
        "lam=settings.lam,",
        "lam=0.0,",
    ),
]
RUNG = "aliased-fork"
EXPECT = "ADV008"
SUSPECT = "advantage"
CONTROLS = True
