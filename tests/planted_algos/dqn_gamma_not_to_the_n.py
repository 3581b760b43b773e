"""The n-step target bootstraps with γ, not γⁿ (RWD-04)."""

ALGO = "dqn"
REPLACE = [
    (
        "target = batch.reward + batch.discount *",
        "target = batch.reward + settings.gamma * (batch.discount > 0) *",
    ),
]
RUNG = "truncated-episode"
EXPECT = "DIS012"
SUSPECT = "discounting"
