"""Rewards are scaled by a half on their way into the buffer, and values never scaled back (ADV-22)."""

ALGO = "ppo"
REPLACE = [
    (
        "action=action, reward=reward,",
        "action=action, reward=0.5 * reward,",
    ),
]
RUNG = "constant-reward"
EXPECT = "VAL009"
SUSPECT = "value-loss"
ALSO = {
    "normalisation": "a scale that is applied and not undone",
    "buffer": "it is the buffer that scales",
}
