"""Rewards are stored without their sign."""

ALGO = "ppo"
REPLACE = [
    (
        "action=action, reward=reward,",
        "action=action, reward=np.abs(reward),",
    ),
]
RUNG = "observed-reward"
EXPECT = "VAL015"
SUSPECT = "value-loss"
ALSO = {
    "buffer": "it is the buffer that loses the sign",
    "preprocessing": "a wrapper may do the same",
}
