"""Rewards are clipped at 1, a habit from Atari, where nobody asked for it."""

ALGO = "ppo"
REPLACE = [
    (
        "action=action, reward=reward,",
        "action=action, reward=np.minimum(reward, 1.0),",
    ),
]
RUNG = "leaking-return"
EXPECT = "VAL013"
SUSPECT = "value-loss"
ALSO = {
    "normalisation": "clipping is a normalisation; from outside the mean is missed",
    "preprocessing": "a wrapper may do the same",
}
